"""TRUER's jobs on a tiny study, run for real: source, label, train, freeze, adapt; what reruns, what is refused, who reads gold."""

import json
import re

import pytest

from tests.workflow.bigram import JUDGE, POLICY, save_bigram
from tests.workflow.world import METHODS, STUDY, planned, snakemake, write_catalogue, write_study
from ttrlab.files import HASHES, digest, hashes, read_json, read_jsonl

LIMITS = {"input_tokens": 64, "output_tokens": 8, "context_tokens": 72}
RECTIFIER = {
    "source": {"benchmark": "fit", "calibration": "calibration", "candidates": 8, "warm_up": {"benchmark": "all", "updates": 2}},
    "training": {
        "updates": 6, "judgements": 2, "expansion": [4], "warm_start_updates": 3, "warm_start_batch": 4,
        "training": {"batch": 4, "learning_rate": 1e-2, "lora": None, "checkpoint_every": 3},
    },
}  # fmt: skip
TRAINED = {"model": "judge", "prompt": "lab", "limits": LIMITS, "rectifier": RECTIFIER}
UNTRAINED = {"model": "judge", "prompt": "lab", "limits": LIMITS}
TRUER = {
    "truer": {"reward": {"rule": "truer"}, "judge": TRAINED},
    "truer_rank1": {"reward": {"rule": "truer", "rank1_only": True}, "judge": TRAINED},
    "truer_untrained": {"reward": {"rule": "truer"}, "judge": UNTRAINED},
}
METHOD_NAMES = ["base", "truer", "truer_untrained"]
FIT, CALIBRATION = ["f: 2+3=", "g: 4+1="], ["c: 1+1=", "d: 2+2="]
TARGET = [f"{a}+{b}=" for a in range(2) for b in range(3)]
CELL = "results/tiny/cells/tiny/sums/truer/seed0"


def write_questions(folder, name, texts):
    rows = [{"problem": text, "answer": str(i % 3)} for i, text in enumerate(texts)]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"source": "path", "path": str(folder / f"{name}.jsonl"), "rows": len(rows), "kind": "integer"}


def build(folder, fit=FIT):
    """A policy, a judge, a target, a source for the judge, and a pool of all questions to warm up on."""
    for name, table in (("tiny", POLICY), ("judge", JUDGE)):
        save_bigram(folder / name, table)
    style = {"template": "plain", "where": "none"}
    write_catalogue(folder, "models", {m: {"source": "path", "path": str(folder / m), "prompt": style} for m in ("tiny", "judge")})
    texts = {"sums": TARGET, "fit": fit, "calibration": CALIBRATION, "all": TARGET + FIT + CALIBRATION}
    write_catalogue(folder, "benchmarks", {name: write_questions(folder, name, given) for name, given in texts.items()})
    write_catalogue(folder, "methods", {**METHODS, **TRUER})
    change(folder, {})


def change(folder, changes):
    settings = {"methods": METHOD_NAMES, "evaluation": {**STUDY["evaluation"], "curve_every": 0}}
    write_study(folder, {**settings, **changes})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("truer")
    build(folder)
    done = snakemake(folder, "--quiet", "rules", "progress", "--", f"{CELL}/scores.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def study(finished):
    """The finished study, put back as it was after the test."""
    yield finished
    write_catalogue(finished, "methods", {**METHODS, **TRUER})
    change(finished, {})


def only(folder, pattern):
    (found,) = folder.glob(pattern)
    return found


def test_candidates_are_labelled_and_counted_by_category(finished):
    rectifier = only(finished, "results/tiny/rectifiers/*")
    assert re.fullmatch(r"judge-fit-[0-9a-f]{8}", rectifier.name)
    report = read_json(rectifier / "label/fit.json")
    assert report["questions"] == 2
    assert report["candidates"] + sum(report["dropped"].values()) == 16
    assert set(report["categories"]) == {"majority_correct", "majority_wrong", "minority_correct", "minority_wrong"}
    candidates = list(read_jsonl(rectifier / "label/fit.jsonl.gz"))
    gold = {row["id"]: row["answer"] for row in read_jsonl(finished / "results/tiny/data/fit/gold.jsonl")}
    assert all(one["correct"] == (one["answer"] == gold[one["question_id"]]) for one in candidates)


def test_the_rectifier_is_warmed_up_then_reinforced_and_its_choice_among_checkpoints_is_recorded(finished):
    rectifier = only(finished, "results/tiny/rectifiers/*")
    assert [step["phase"] for step in read_jsonl(rectifier / "train/steps.jsonl")] == ["warm_start"] * 3 + ["reinforce"] * 6
    record = read_json(rectifier / "frozen/accuracy-0.05.json")
    assert [score["step"] for score in record["calibration"]] == [3, 6, 9]
    frozen = hashes(rectifier / "frozen/accuracy-0.05")
    chosen = hashes(rectifier / f"train/checkpoints/step{record['step']:06d}")
    assert {name: value for name, value in frozen.items() if name != HASHES} == {n: v for n, v in chosen.items() if n != HASHES}


def test_the_adaptation_records_the_frozen_rectifier(finished):
    record = only(finished, "results/tiny/rectifiers/*/frozen/*.json")
    manifest, spec = (read_json(finished / CELL / "adapt" / name) for name in ("manifest.json", "spec.json"))
    assert record.name in manifest["inputs"]
    assert digest(spec["judge"]) == read_json(record)["rectifier"]
    assert (finished / CELL / "adapt/judgements.jsonl").read_text()


def test_the_warm_up_reads_every_question_and_no_answer(finished):
    source = only(finished, "results/tiny/sources/*")
    spec = read_json(source / "warm_up/spec.json")["spec"]
    assert (spec["benchmark"], spec["rule"]["rule"], spec["training"]["updates"], spec["rows"]) == ("all", "majority", 2, 10)
    assert read_json(source / "warm_up/manifest.json")["inputs"].keys() == {"questions.jsonl"}


def test_a_finished_chain_reruns_nothing(finished):
    assert planned(finished, f"{CELL}/scores.csv") == {}


TRUER_JOBS = ("disjoint", "warm_up", "source", "label", "rectify", "freeze", "adapt")


def reruns(study, changed, cell=CELL):
    """TRUER's jobs that a run would do after ``changed`` fields of the trained judge."""
    methods = {**METHODS, **TRUER, "truer": {"reward": {"rule": "truer"}, "judge": {**TRAINED, **changed}}}
    write_catalogue(study, "methods", methods)
    jobs = planned(study, f"{cell}/scores.csv")
    return [job for job in TRUER_JOBS if job in jobs]


def test_another_rule_of_selection_trains_nothing(study):
    assert reruns(study, {"rectifier": {**RECTIFIER, "selection": {"by": "balanced"}}}) == ["freeze", "adapt"]


def test_another_training_samples_nothing(study):
    training = {**RECTIFIER["training"], "updates": 7}
    assert reruns(study, {"rectifier": {**RECTIFIER, "training": training}}) == ["label", "rectify", "freeze", "adapt"]


def test_another_method_or_seed_with_an_equal_rectifier_uses_the_same(study):
    change(study, {"methods": ["truer", "truer_rank1"], "seeds": [0, 1]})
    other = CELL.replace("truer/seed0", "truer_rank1/seed1")
    assert reruns(study, {}, other) == ["adapt"]


def test_another_target_is_checked_first_and_trains_nothing(study):
    entries = {name: write_questions(study, name, texts) for name, texts in (("fit", FIT), ("calibration", CALIBRATION), ("sums", TARGET))}
    entries |= {"all": write_questions(study, "all", TARGET + FIT + CALIBRATION), "more": write_questions(study, "more", ["h: 1+2="])}
    write_catalogue(study, "benchmarks", entries)
    change(study, {"benchmarks": ["sums", "more"]})
    assert reruns(study, {}, CELL.replace("sums", "more")) == ["disjoint", "adapt"]


@pytest.mark.parametrize("job", ["warm_up", "source", "label", "rectify", "freeze", "adapt"])
def test_each_job_can_be_rerun_alone(finished, job):
    target = {
        "warm_up": only(finished, "results/tiny/sources/*/warm_up/manifest.json"),
        "source": only(finished, "results/tiny/sources/*/fit/rollouts.jsonl.gz"),
        "label": only(finished, "results/tiny/rectifiers/*/label/fit.json"),
        "rectify": only(finished, "results/tiny/rectifiers/*/train/manifest.json"),
        "freeze": only(finished, "results/tiny/rectifiers/*/frozen/*.json"),
        "adapt": finished / CELL / "adapt/manifest.json",
    }[job]
    assert planned(finished, "--force", str(target.relative_to(finished))) == {job: 1}


def test_no_job_upstream_of_an_adaptation_but_the_loader_touches_the_targets_gold(finished):
    done = snakemake(finished, "-n", "-p", "--forceall", f"{CELL}/adapt/manifest.json")
    jobs = re.findall(r"^rule (\w+):\n((?:    .*\n)+)", done.stdout + done.stderr, re.MULTILINE)
    assert {rule for rule, _ in jobs} == {"prepare", *TRUER_JOBS}
    readers = [rule for rule, text in jobs if "data/sums/gold.jsonl" in text]
    assert readers == ["prepare"]
    (text,) = [text for rule, text in jobs if rule == "adapt"]
    assert "data/sums/questions.jsonl" in text
    assert "frozen/accuracy-0.05.json" in text
    assert {rule for rule, text in jobs if "gold.jsonl" in text} == {"prepare", "label"}


def test_a_source_that_shares_a_question_with_the_target_is_refused_with_ids_before_anything_is_sampled(tmp_path):
    build(tmp_path, fit=["f: 2+3=", "7+9="])
    done = snakemake(tmp_path, f"{CELL}/adapt/manifest.json")
    assert done.returncode != 0
    assert "fit/1 = sums/0 (same family)" in done.stdout + done.stderr
    assert not list(tmp_path.glob("results/tiny/sources/*/*/rollouts.jsonl.gz"))
    assert not list(tmp_path.glob("results/tiny/sources/*/warm_up"))
