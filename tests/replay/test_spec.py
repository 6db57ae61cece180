"""Which rules a replay of a study has, and the command that runs it."""

import sys
from pathlib import Path

import pytest
import yaml

from tests.replay.adapted import GOLD, QUESTIONS, adaptation
from ttrlab.cli import build_parser, dispatch
from ttrlab.config.catalogue import Method, load_catalogue, read_yaml
from ttrlab.config.study import Plan, make_plan
from ttrlab.files import read_json, write_jsonl
from ttrlab.replay import whole
from ttrlab.replay.spec import ReplaySpec, cell_spec, replay_spec, study_rules
from ttrlab.rewards import Truer
from ttrlab.stages import replay as stage

CONFIG = Path(__file__).resolve().parents[2] / "config"


def plan(study="demo", **changes):
    return make_plan({**read_yaml(CONFIG / f"{study}.yaml"), **changes}, CONFIG)


def test_every_method_of_the_study_that_has_a_rule_is_replayed_with_its_settings():
    spec = replay_spec(plan(), study_rules(plan()))
    assert list(spec.methods) == ["majority", "core", "oracle"]
    assert (spec.kind, spec.batch, spec.cut) == ("integer", 32, False)
    assert {method.train for method in spec.methods.values()} == {16}


def test_where_the_study_s_cells_disagree_the_option_is_asked_for():
    study = plan("config")
    rules = study_rules(study)
    with pytest.raises(ValueError, match=r"several kinds of answers \(choice, math\); say which by --kind"):
        replay_spec(study, rules)
    with pytest.raises(ValueError, match=r"no benchmark 'x'; it has \['aime24'"):
        replay_spec(study, rules, benchmark="x")
    assert replay_spec(study, rules, benchmark="math500").kind == "math"
    assert replay_spec(study, rules, kind="math", batch=8, train=4).cut is True
    for zero in ({"batch": 0, "train": 4}, {"batch": 8, "train": 0}):
        with pytest.raises(ValueError, match="greater than or equal to 1"):
            replay_spec(study, rules, kind="math", **zero)


def test_a_method_may_stand_in_the_catalogue_alone_and_any_other_is_refused():
    catalogue = load_catalogue(CONFIG)
    assert list(study_rules(plan(), ["core", "truer"], catalogue)) == ["core", "truer"]
    with pytest.raises(ValueError, match=r"unknown methods \['nope'\]; study 'demo' and the catalogue have base, "):
        study_rules(plan(), ["nope"], catalogue)
    with pytest.raises(ValueError, match="none of base has a reward rule"):
        study_rules(plan(), ["base"])


def test_a_cell_without_a_judge_is_not_put_through_a_judge_s_rules():
    judge = {"model": "lab-llama"}
    methods = {**plan().catalogue.methods, "truer": Method(reward=Truer(), judge=judge)}
    catalogue = plan().catalogue.model_copy(update={"methods": methods})
    study = Plan(study=plan().study.model_copy(update={"methods": ("majority", "truer"), "seeds": (0,)}), catalogue=catalogue)
    for cell, replayed in zip(study.cells[:2], (["majority"], ["majority", "truer"]), strict=True):
        assert list(ReplaySpec.model_validate_json(cell_spec(study, cell)).methods) == replayed


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(whole, "write_figures", lambda out, tables, gold: None)
    adaptation(tmp_path / "adapt", votes=16)
    write_jsonl(tmp_path / "questions.jsonl", ({"id": q.id, "prompt": q.prompt} for q in QUESTIONS))
    write_jsonl(tmp_path / "gold.jsonl", ({"id": q, "answer": a, "tags": {}} for q, a in GOLD.items()))
    return tmp_path


def test_the_command_prints_the_audit_and_leaves_a_manifest(world):
    options = ["--study", str(CONFIG / "demo.yaml"), "--catalogue", str(CONFIG), "--out", str(world / "out"), "--jobs", "1"]
    options += ["--gold", str(world / "gold.jsonl"), "--methods", "core,oracle"]
    printed = dispatch(build_parser().parse_args(["replay", str(world / "adapt"), *options]))
    assert "| core |" in printed
    assert "| oracle |" in printed
    manifest = read_json(world / "out" / "manifest.json")
    assert manifest["stage"] == "replay"
    assert {"audit.csv", "summary.json", "decisions/core.jsonl"} <= set(manifest["outputs"])
    assert "gold.jsonl" in manifest["inputs"]


def test_a_study_that_names_its_catalogue_is_replayed_with_it(world):
    study = read_yaml(CONFIG / "demo.yaml") | {"catalogue": str(CONFIG)}
    (world / "own.yaml").write_text(yaml.safe_dump(study))
    options = ["--study", str(world / "own.yaml"), "--out", str(world / "out"), "--jobs", "1", "--methods", "majority"]
    assert "| majority |" in dispatch(build_parser().parse_args(["replay", str(world / "adapt"), *options]))


@pytest.mark.parametrize("option", ["--jobs", "--train", "--batch"])
def test_counts_below_one_are_refused_by_option(option, capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["replay", "pool", "--study", "s.yaml", "--out", "o", option, "0"])
    assert f"{option}: expected a whole number of at least 1, got 0" in capsys.readouterr().err


def test_the_stage_replays_a_cell_as_the_workflow_calls_it(world, monkeypatch):
    study = plan()
    paths = {"pool": "adapt", "out": "out", "gold": "gold.jsonl", "questions": "questions.jsonl"}
    options = [text for name, value in paths.items() for text in (f"--{name}", str(world / value))]
    monkeypatch.setattr(sys, "argv", ["replay", "--spec", cell_spec(study, study.cells[2]), "--jobs", "1", *options])
    stage.main()
    assert set(read_json(world / "out" / "summary.json")["audit"]) == {"majority", "core", "oracle"}
