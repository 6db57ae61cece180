"""The workflow on a tiny study, run for real: what a run makes, and what a change reruns."""

import json
import shutil

import pandas as pd
import pytest

from tests.workflow.world import METHODS, ROOT, STUDY, artefacts, build, planned, snakemake, write_catalogue, write_study
from ttrlab.stages.stale import stale_results


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    build(folder)
    done = snakemake(folder, "--quiet", "rules", "progress")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def study(finished):
    """The finished study, put back as it was after the test."""
    yield finished
    write_catalogue(finished, "methods", METHODS)
    write_study(finished, {})


def test_the_summary_has_every_cell_with_its_denominators(finished):
    summary = pd.read_csv(finished / "results/tiny/summary.csv")
    assert set(summary.method) == set(METHODS)
    assert {"model", "benchmark", "method", "seed", "metric", "value", "n", "rollouts", "undecided", "step", "endpoint"} <= set(summary)
    endpoint = summary[summary.endpoint & (summary.method == "majority")]
    assert set(endpoint.metric) >= {"mean@4", "pass@4", "greedy", "unparsed", "truncated", "tokens"}
    assert set(endpoint.step) == {4}
    assert set(summary[(summary.method == "majority") & ~summary.endpoint].step) == {2}


def test_there_are_tables_figures_and_tracked_runs(finished):
    results = finished / "results/tiny"
    assert "majority" in (results / "tables/main.md").read_text()
    for figure in ("endpoints", "learning_curves", "reward_audit"):
        assert (results / f"figures/{figure}.png").stat().st_size > 10_000
        assert (results / f"figures/{figure}.svg").read_text().lstrip().startswith("<?xml")
    assert len(json.loads((results / "mlflow.json").read_text())["cells"]) == 3
    assert (finished / "results/mlflow.db").exists()


def test_a_second_run_does_nothing(finished):
    assert planned(finished) == {}


def test_changing_the_evaluation_reruns_no_adaptation(study):
    write_study(study, {"evaluation": {**STUDY["evaluation"], "temperature": 0.9}})
    jobs = planned(study)
    assert jobs["evaluate"] == 3
    assert not {"adapt", "adapt_with_gold", "prepare", "audit"} & set(jobs)


def test_changing_the_verdict_rule_reruns_comparisons_alone(study):
    write_study(study, {"evidence": {"verdict": {"tolerance": 5}}})
    assert set(planned(study)) <= {"contrasts", "spread", "efficiency", "figures", "page", "track", "all"}


def test_changing_one_methods_field_reruns_that_method_only(study):
    write_catalogue(study, "methods", {**METHODS, "majority": {"reward": {"rule": "majority"}, "training": {"learning_rate": 2e-3}}})
    jobs = planned(study)
    assert (jobs["adapt"], jobs["evaluate"], jobs["curve"], jobs["score"], jobs["audit"]) == (1, 1, 1, 1, 1)
    assert "adapt_with_gold" not in jobs


def test_a_comment_reruns_nothing(study):
    path = study / "study.yaml"
    path.write_text("# a remark\n" + path.read_text())
    assert planned(study) == {}


def test_results_say_which_code_made_them(finished):
    manifest = json.loads((finished / "results/tiny/cells/tiny/sums/majority/seed0/adapt/manifest.json").read_text())
    assert {"ttrlab.adapt.loop", "ttrlab.rewards.majority", "ttrlab.engines.loss"} <= set(manifest["code"])
    assert list(stale_results(finished / "results")) == []
    manifest["code"]["ttrlab.adapt.loop"] = "another"
    changed = finished / "results/tiny/changed"
    changed.mkdir()
    (changed / "manifest.json").write_text(json.dumps(manifest))
    assert [names for _, names in stale_results(finished / "results")] == [["ttrlab.adapt.loop"]]
    shutil.rmtree(changed)


def test_one_cell_can_be_asked_for(study):
    cell = ("cell", "--config", "model=tiny", "benchmark=sums", "method=majority", "seed=0")
    assert set(planned(study, "--forceall", *cell)) == {"prepare", "adapt", "evaluate", "curve", "score", "audit", "cell"}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("cell", "--config", "model=tiny"), "a cell needs all of model, benchmark, method, seed"),
        (("cell", "--config", "model=tiny", "benchmark=sums", "method=magic", "seed=0"), "is not in study 'tiny'"),
        (("cell", "--config", "model=tiny", "benchmark=sums", "method=majority", "seed=zero"), "seedzero is not in study 'tiny'"),
    ],
)
def test_a_cell_that_is_not_there_is_refused_before_anything_runs(study, arguments, message):
    done = snakemake(study, "-n", *arguments)
    assert done.returncode != 0
    assert message in done.stdout + done.stderr


def test_a_misspelt_key_is_refused_before_the_dag_is_built(study):
    write_study(study, {"training": {**STUDY["training"], "lerning_rate": 1}})
    done = snakemake(study, "-n")
    assert done.returncode != 0
    assert "training.lerning_rate" in done.stdout + done.stderr


def test_no_job_of_a_label_free_adaptation_is_given_gold(finished):
    done = snakemake(finished, "-n", "-p", "--forceall")
    commands = [line for line in (done.stdout + done.stderr).splitlines() if "ttrlab.stages." in line]
    adaptations = [line for line in commands if "ttrlab.stages.adapt " in line]
    assert len(adaptations) == 2
    assert [("gold.jsonl" in line, '"rule":"oracle"' in line) for line in sorted(adaptations, key=lambda line: "gold.jsonl" in line)] == [
        (False, False),
        (True, True),
    ]
    for line in commands:
        if "ttrlab.stages.evaluate " in line:
            assert "gold" not in line


def test_poisoned_gold_leaves_every_byte_of_a_label_free_adaptation(finished, tmp_path):
    build(tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "sums.jsonl").read_text().splitlines()]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps({**row, "answer": "777"}) + "\n" for row in rows))
    target = "results/tiny/cells/tiny/sums/majority/seed0/adapt/manifest.json"
    (tmp_path / "tiny").rename(tmp_path / "unused")
    models = {"tiny": {"source": "path", "path": str(finished / "tiny"), "prompt": {"template": "plain", "where": "none"}}}
    write_catalogue(tmp_path, "models", models)
    done = snakemake(tmp_path, "--quiet", "rules", "progress", "--", target)
    assert done.returncode == 0, done.stdout + done.stderr
    poisoned, clean = (artefacts((folder / target).parent) for folder in (tmp_path, finished))
    assert poisoned == clean
    assert (tmp_path / "results/tiny/data/sums/questions.jsonl").read_bytes() == (
        finished / "results/tiny/data/sums/questions.jsonl"
    ).read_bytes()


STUDIES = sorted(path.name for path in (ROOT / "config").glob("*.yaml") if "\nstudy: " in f"\n{path.read_text()}")


@pytest.mark.parametrize("name", STUDIES)
def test_every_shipped_study_plans_offline(name, tmp_path):
    model = tmp_path / "results/smollm2-135m-instruct"  # the one model that the shipped studies name by path
    model.mkdir(parents=True)
    (model / "config.json").write_text("{}")
    (model / "chat_template.jinja").write_text("{{ messages }}")
    (tmp_path / "data").mkdir()  # the files that users put there
    for file in ("amc23", "aime24", "math500"):
        (tmp_path / f"data/{file}.jsonl").write_text("")
    done = snakemake_study(name, tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "adapt" in done.stdout + done.stderr


def snakemake_study(name, folder):
    (folder / "study.yaml").write_text((ROOT / "config" / name).read_text())
    return snakemake(folder, "-n", "--quiet", "rules")
