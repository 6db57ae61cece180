"""Budget-matched controls run by the workflow: where they start, when they stop, what they record, what is refused."""

import os
import signal
import subprocess
import time

import pandas as pd
import pytest

from tests.workflow.world import METHODS, ROOT, artefacts, build, environment, snakemake, write_catalogue, write_study
from ttrlab.config.specs import AdaptSpec
from ttrlab.config.study import make_plan
from ttrlab.files import read_json, read_jsonl
from ttrlab.stages.adapt import first_weights
from ttrlab.stages.budget import SPENT

CORE = {"reward": {"rule": "core"}, "training": {"episodes": 4, "learning_rate": 0.002}}
PLUS = {"continues": {"method": "majority", "of": "core", "until": "tokens", "at_most": 40}}
SHORT = {"continues": {"method": "majority", "of": "core", "until": "tokens", "at_most": 1}}
NAMES = ["base", "majority", "core", "majority_plus", "majority_short"]
CELLS = "results/tiny/cells/tiny/sums"


def world(folder, **methods):
    build(folder)
    write_catalogue(folder, "methods", {**METHODS, "core": CORE, "majority_plus": PLUS, "majority_short": SHORT, **methods})
    write_study(folder, {"methods": NAMES, "evaluation": {"samples": 4, "metrics": ["mean@4"], "curve_every": 0}})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("continued")
    world(folder)
    done = snakemake(folder, "--", "results/tiny/tables/budgets.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run_of(folder, method):
    return folder / CELLS / method / "seed0/adapt"


def steps(folder, method):
    return [record["step"] for record in read_jsonl(run_of(folder, method) / "steps.jsonl")]


def test_a_continuation_goes_on_where_the_continued_run_ended_and_stops_at_the_first_step_that_meets_the_budget(finished):
    before, target = (SPENT["tokens"](run_of(finished, method)) for method in ("majority", "core"))
    record = read_json(run_of(finished, "majority_plus") / "budget.json")
    made = [row["tokens"] for row in read_jsonl(run_of(finished, "majority_plus") / "steps.jsonl")]
    assert (record["before"], record["target"], record["spent"]) == (before, target, before + sum(made))
    assert record["met"] is True
    assert record["spent"] >= target > record["spent"] - made[-1]
    assert steps(finished, "majority_plus") == list(range(5, 5 + len(made)))
    assert record["steps"] == steps(finished, "majority_plus")[-1]


def test_a_continuation_sees_the_batches_that_come_next_and_keeps_its_last_checkpoint_alone(finished):
    spec = read_json(run_of(finished, "majority_plus") / "spec.json")["spec"]
    assert spec["continues"] == {**PLUS["continues"], "after": 4}
    assert (spec["rule"]["rule"], spec["training"]["schedule"], spec["training"]["updates"]) == ("majority", "constant", 40)
    last = steps(finished, "majority_plus")[-1]
    kept = sorted(path.name for path in (run_of(finished, "majority_plus") / "checkpoints").iterdir())
    assert kept[-1] == f"step{last:06d}"
    scores = pd.read_csv(finished / CELLS / "majority_plus/seed0/scores.csv")
    assert scores.step.unique().tolist() == [last]


def test_a_budget_that_is_out_of_reach_ends_at_the_greatest_number_of_steps_and_is_not_called_met(finished):
    record = read_json(run_of(finished, "majority_short") / "budget.json")
    assert record["met"] is False
    assert record["before"] < record["spent"] < record["target"]
    assert steps(finished, "majority_short") == [5]


def test_the_table_sets_each_continuation_beside_both_runs(finished):
    table = pd.read_csv(finished / "results/tiny/tables/budgets.csv").set_index("method")
    assert list(table.index) == ["majority_plus", "majority_short"]
    for name, method in (("score_before", "majority"), ("score_after", "majority_plus"), ("score_of", "core")):
        scores = pd.read_csv(finished / CELLS / method / "seed0/scores.csv")
        value = scores[(scores.metric == "mean@4") & (scores.group == "all") & scores.endpoint].value.item()
        assert table.loc["majority_plus", name] == pytest.approx(value)


def test_the_manifest_names_both_runs(finished):
    manifest = read_json(run_of(finished, "majority_plus") / "manifest.json")
    assert {f"{CELLS}/{method}/seed0/adapt/manifest.json" for method in ("majority", "core")} <= set(manifest["inputs"])


def test_a_continuation_starts_with_the_weights_at_the_end_of_the_continued_run(finished):
    spec = AdaptSpec.model_validate(read_json(run_of(finished, "majority_plus") / "spec.json")["spec"])
    parent = run_of(finished, "majority")
    assert first_weights(spec, "tiny", str(parent), "other") == (str(parent / "checkpoints/step000004"), None)
    with pytest.raises(ValueError, match="step000004: missing or damaged; rerun the adaptation"):
        first_weights(spec, "tiny", str(run_of(finished, "base")), "other")
    with pytest.raises(ValueError, match="belong to a method that continues another, and it needs both"):
        first_weights(spec, "tiny", str(parent), None)
    own = spec.model_copy(update={"continues": None})
    assert first_weights(own, "tiny", None, None) == ("tiny", None)
    with pytest.raises(ValueError, match="belong to a method that continues another"):
        first_weights(own, "tiny", str(parent), "other")


def test_a_killed_continuation_ends_as_the_undisturbed_one(finished, tmp_path):
    again = tmp_path / "again"
    subprocess.run(["cp", "-a", str(finished), str(again)], check=True)
    subprocess.run(["rm", "-rf", str(run_of(again, "majority_plus"))], check=True)
    command = ["snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(again), "--configfile", str(again / "study.yaml")]
    target = f"{CELLS}/majority_plus/seed0/adapt/manifest.json"
    process = subprocess.Popen([*command, "--cores", "1", "--quiet", "--", target], env=environment(), start_new_session=True)
    deadline = time.monotonic() + 120
    while not (run_of(again, "majority_plus") / "steps/step000005.json").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert snakemake(again, "--unlock").returncode == 0
    done = snakemake(again, "--rerun-incomplete", "--", target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert artefacts(run_of(again, "majority_plus")) == artefacts(run_of(finished, "majority_plus"))


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"continues": {**PLUS["continues"], "method": "oracle"}}, "continues.method: 'oracle' is not a method that adapts without gold"),
        ({"continues": {**PLUS["continues"], "of": "base"}}, "continues.of: 'base' is not a method that adapts"),
        ({"continues": {**PLUS["continues"], "method": "majority_short"}}, "'majority_short' is not a method that adapts"),
        ({"continues": {**PLUS["continues"], "of": "nobody"}}, "continues.of: 'nobody'"),
        ({**PLUS, "reward": {"rule": "majority"}}, "reward, gold and judge must not be given"),
        ({"continues": {**PLUS["continues"], "until": "hours"}}, "until"),
    ],
)
def test_a_continuation_of_what_cannot_be_continued_is_refused_by_key(tmp_path, entry, fault):
    world(tmp_path, majority_plus=entry)
    with pytest.raises(ValueError, match=r"majority_plus") as error:
        make_plan(study_of(NAMES), tmp_path / "catalogue")
    assert fault in str(error.value)


def test_a_continuation_without_the_runs_that_it_needs_is_refused(tmp_path):
    world(tmp_path)
    with pytest.raises(ValueError, match="majority_plus needs the runs of core, which the study does not name"):
        make_plan(study_of(["base", "majority", "majority_plus"]), tmp_path / "catalogue")


def test_settings_of_the_continued_method_hold_for_the_continuation(tmp_path):
    world(tmp_path)
    settings = [{"when": {"method": "majority"}, "training": {"batch": 2}}, {"when": {"method": "majority_plus"}, "training": {"train": 2}}]
    plan = make_plan({**study_of(NAMES), "settings": settings}, tmp_path / "catalogue")
    training = {cell.method: plan.training(cell) for cell in plan.cells}
    assert (training["majority_plus"].batch, training["majority_plus"].train) == (2, 2)
    assert (training["majority"].batch, training["majority"].train, training["core"].batch) == (2, 4, 4)


def study_of(methods):
    return {
        "study": "tiny", "models": ["tiny"], "benchmarks": ["sums"], "methods": methods, "seeds": [0],
        "training": {"votes": 4, "train": 4, "batch": 4}, "evaluation": {"samples": 4, "metrics": ["mean@4"]},
    }  # fmt: skip
