"""MLflow of a study whose cells were written by hand: what a run holds, and what a second import does."""

import json

import pandas as pd
import pytest

from tests.workflow.world import METHODS, STUDY, write_catalogue
from ttrlab.config.study import make_plan
from ttrlab.files import write_json, write_jsonl, write_text
from ttrlab.meter import metered
from ttrlab.stages.track import Importer, open_experiment

mlflow = pytest.importorskip("mlflow")
MAJORITY, BASE = "tiny/sums/majority/seed0", "tiny/sums/base/seed0"


def write_cell(folder, cell, adapted, value=0.5):
    place = {"model": "tiny", "benchmark": "sums", "method": cell.method, "seed": 0}
    scores = [
        {"step": step, "endpoint": step == 4, "group": group, "metric": "mean@4", "value": value, "upper": value, "n": 6, "rollouts": 24}
        for step in ((2, 4) if adapted else (4,))
        for group in ("all", "regime=contested")
    ]
    write_text(folder / "scores.csv", pd.DataFrame(scores).assign(undecided=0, **place).to_csv(index=False))
    write_text(folder / "questions.csv", "question_id,metric,value\n")
    for stage in ("adapt", "evaluate") if adapted else ("evaluate",):
        with metered(folder / stage, stage, "x") as meter:
            meter.spent("sample", 1, 2.0, 1.0, {})
    if adapted:
        write_jsonl(folder / "adapt" / "steps.jsonl", [{"step": 1, "reward_mean": 0.25, "entropy": None}, {"step": 2, "reward_mean": 0.5}])
        manifest = {"revision": "abc", "spec_digest": "d" * 64, "inputs": {"questions.jsonl": "e" * 64}, "versions": {"torch": "2"}}
        write_json(folder / "adapt" / "manifest.json", manifest)
        write_text(folder / "adapt" / "checkpoints" / "step000004" / "README.md", "---\nbase_model: tiny\n---\n# never zero-shot\n")
        audit = {"window": ["step"], "first_step": [1], "last_step": [1], "label_accuracy": [0.75], "reward_accuracy": [0.5], "groups": [6]}
        write_text(folder / "audit.csv", pd.DataFrame(audit).assign(active_share=1.0, coverage=None, **place).to_csv(index=False))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("track")
    write_catalogue(tmp_path, "models", {"tiny": {"source": "path", "path": "tiny", "prompt": {"template": "plain", "where": "none"}}})
    write_catalogue(tmp_path, "benchmarks", {"sums": {"source": "path", "path": "sums.jsonl", "rows": 6, "kind": "integer"}})
    write_catalogue(tmp_path, "methods", METHODS)
    plan = make_plan(
        {key: value for key, value in STUDY.items() if key != "catalogue"} | {"methods": ["base", "majority"]}, tmp_path / "catalogue"
    )
    for cell in plan.cells:
        write_cell(tmp_path / "results" / "tiny" / "cells" / cell.path, cell, cell.method != "base")
    write_text(tmp_path / "lock", "numpy==1\n")
    return tmp_path, plan


def imported(world):
    folder, plan = world
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    client = mlflow.MlflowClient()
    experiment = open_experiment(client, "tiny", folder / "mlflow")
    importer = Importer(client, experiment, plan, folder / "results" / "tiny", folder / "lock")
    for cell in plan.cells:
        importer.cell(cell, "mean@4")
    importer.study("tiny")
    return client, client.search_runs([experiment])


def by_name(runs):
    return {(run.data.tags["cell_key"], run.data.tags.get("part", "cell")): run for run in runs}


def test_a_cell_is_a_run_with_one_for_its_adaptation_and_one_for_its_evaluation(world):
    client, found = imported(world)
    runs = by_name(found)
    assert set(runs) == {
        (MAJORITY, "cell"), (MAJORITY, "adapt"), (MAJORITY, "evaluate"), (BASE, "cell"), (BASE, "evaluate"), ("tiny", "study"),
    }  # fmt: skip
    parent, adapted, evaluated = (runs[MAJORITY, part] for part in ("cell", "adapt", "evaluate"))
    assert adapted.data.tags["mlflow.parentRunId"] == evaluated.data.tags["mlflow.parentRunId"] == parent.info.run_id
    curve = client.get_metric_history(parent.info.run_id, "eval/mean_at_4")
    assert [(point.step, point.value) for point in curve] == [(2, 0.5), (4, 0.5)]
    assert [point.value for point in client.get_metric_history(adapted.info.run_id, "train/reward_mean")] == [0.25, 0.5]
    assert parent.data.metrics["audit/label_accuracy"] == 0.75
    assert evaluated.data.metrics["eval/mean_at_4/regime-contested"] == 0.5
    assert adapted.data.metrics["system/adapt/sample_cpu_seconds"] == 1.0
    assert adapted.data.metrics["system/adapt/peak_rss_megabytes"] > 1
    assert parent.data.params["training.votes"] == "4"
    assert adapted.inputs.dataset_inputs[0].dataset.name == "sums"


def test_a_run_names_all_that_it_comes_from_and_carries_the_model_card(world):
    client, found = imported(world)
    parent = by_name(found)[MAJORITY, "cell"]
    tags = parent.data.tags
    assert {"revision", "spec_sha256", "questions_sha256", "lock_sha256", "prompt_sha256", "model_revision", "versions"} <= set(tags)
    assert (tags["seed"], tags["revision"], tags["versions"]) == ("0", "abc", "torch 2")
    assert tags["determinism"].startswith("bitwise")
    assert "cores" in tags["hardware"]
    assert tags["page"].endswith("page/index.html#/pair/0")
    assert "never zero-shot" in tags["mlflow.note.content"]
    names = {item.path for item in client.list_artifacts(parent.info.run_id)}
    assert {"scores.csv", "README.md", "figures"} <= names
    assert parent.info.start_time > 1e12


def test_a_second_import_changes_nothing_and_a_new_score_replaces_the_cell(world):
    _, first = imported(world)
    _, second = imported(world)
    assert {run.info.run_id for run in first} == {run.info.run_id for run in second}
    folder, plan = world
    cell = next(cell for cell in plan.cells if cell.method == "majority")
    write_cell(folder / "results" / "tiny" / "cells" / cell.path, cell, True, value=0.75)
    _, third = imported(world)
    assert by_name(third)[MAJORITY, "cell"].data.metrics["eval/mean_at_4"] == 0.75
    assert by_name(third)[BASE, "cell"].info.run_id == by_name(first)[BASE, "cell"].info.run_id
    assert len(third) == len(first)


def test_a_cell_that_a_kill_left_half_imported_is_imported_again(world):
    client, first = imported(world)
    parent = by_name(first)[MAJORITY, "cell"]
    client.delete_tag(parent.info.run_id, "content")
    _, again = imported(world)
    assert len(again) == len(first)
    assert by_name(again)[MAJORITY, "cell"].info.run_id != parent.info.run_id
    assert json.dumps(by_name(again)[MAJORITY, "cell"].data.params) == json.dumps(parent.data.params)
