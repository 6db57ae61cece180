"""Figures of the evidence: those with something to show, none that would be empty, the same bytes twice."""

import sys

import numpy as np
import pandas as pd
import pytest

from tests.report.world import METHODS, METRIC, SPEC, make_plan, tables
from ttrlab.files import hashes, write_json, write_text
from ttrlab.report.run_figures import bin_of, transitions
from ttrlab.stages import contrasts, figures

QUESTIONS = 12


@pytest.fixture
def study(tmp_path):
    """A study on disk with tables and nothing else."""
    plan = make_plan(QUESTIONS)
    folder = tmp_path / "study"
    write_text(folder / "plan.json", plan.model_dump_json(exclude_unset=True))
    scored, _ = tables(plan, QUESTIONS)
    write_text(folder / "questions.csv", scored.to_csv(index=False))
    write_text(folder / "contrasts.csv", contrasts.differences(scored, [METRIC], METHODS).to_csv(index=False))
    for name in ("efficiency", "steps"):
        write_text(folder / f"{name}.csv", "\n")
    return folder


def add_artefacts(folder):
    rng = np.random.default_rng(0)
    base = folder / "cells/m/b/base/seed0/offline"
    right, wrong = rng.integers(2, 9, QUESTIONS), rng.integers(6, 16, QUESTIONS)
    rows = {
        "question_id": [f"q{i}" for i in range(QUESTIONS)], "regime": ["contested", "floor", "saturated"] * (QUESTIONS // 3),
        "confidence_gap": 0.2, "recovered": right * 2 > wrong, "n": right, "m": wrong, "coherence_correct": 0.8, "coherence_wrong": 0.7,
        "weight_correct": 0.6, "weight_wrong": 0.4, "gap": 0.2, "model": "m", "benchmark": "b",
    }  # fmt: skip
    write_text(base / "questions.csv", pd.DataFrame(rows).to_csv(index=False))
    votes = [["core", n, f"q{q}", float(rng.random()), "m", "b"] for n in (2, 4) for q in range(QUESTIONS)]
    columns = ["method", "votes", "question_id", "right", "model", "benchmark"]
    write_text(base / "votes.csv", pd.DataFrame(votes, columns=columns).to_csv(index=False))
    efficiency = [["m", "b", "core", "majority", 0.5, 0.1, 0.7, 12, 2], ["m", "b", "oracle", "majority", -np.inf, -np.inf, 0.2, 12, 2]]
    names = ["model", "benchmark", "method", "baseline", "fewer", "low", "high", "n", "seeds"]
    write_text(folder / "efficiency.csv", pd.DataFrame(efficiency, columns=names).to_csv(index=False))
    steps = [["m", "b", "core", seed, step, 4.0, 8] for seed in (0, 1) for step in (1, 2)]
    names = ["model", "benchmark", "method", "seed", "step", "rule/subgroup_size", "questions"]
    write_text(folder / "steps.csv", pd.DataFrame(steps, columns=names).to_csv(index=False))
    phases = {"sample": {"wall": 100.0, "cpu": 90.0, "discarded_wall": 20.0, "discarded_cpu": 18.0, "tokens": 5}}
    write_json(folder / "cells/m/b/core/seed0/adapt/cost.json", {"devices": ["GPU", "GPU"], "phases": phases})


def build(folder, out):
    files = {"--plan": folder / "plan.json", "--results": folder, "--out": out}
    with pytest.MonkeyPatch.context() as patched:
        arguments = [str(part) for pair in files.items() for part in pair]
        patched.setattr(sys, "argv", ["figures", "--spec", SPEC.model_dump_json(), *arguments])
        figures.main()
    return sorted(path.stem for path in out.glob("*.svg"))


def test_no_figure_without_its_artefacts(study, tmp_path):
    assert build(study, tmp_path / "out") == ["transitions"]  # scores are all that it needs


def test_all_figures_from_artefacts_with_n_in_each_and_the_same_bytes_twice(study, tmp_path):
    add_artefacts(study)
    drawn = build(study, tmp_path / "a")
    assert drawn == [
        "chosen_sizes",
        "cost_gain",
        "label_accuracy",
        "operating_regimes",
        "recovery_region",
        "sample_efficiency",
        "transitions",
    ]
    build(study, tmp_path / "b")
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    for name in drawn:
        assert (tmp_path / "a" / f"{name}.png").stat().st_size > 5_000
        assert "n = " in (tmp_path / "a" / f"{name}.svg").read_text()


def test_a_question_counts_as_moved_when_its_bin_changes_and_the_title_says_how_many_did():
    shares = pd.Series([0.0, 0.2, 0.25, 0.26, 0.75, 0.76, 15 / 16, 1.0])
    assert bin_of(shares).tolist() == [0, 1, 1, 2, 3, 4, 4, 5]
    ends = {"base": [0.0, 0.5, 0.5, 1.0], "core": [1.0, 0.6, 0.5, 0.9]}  # up, up, as it was, down
    rows = [["m", "b", method, 0, f"q{q}", value] for method, values in ends.items() for q, value in enumerate(values)]
    scores = pd.DataFrame(rows, columns=["model", "benchmark", "method", "seed", "question_id", "value"])
    drawn = transitions(scores, METRIC, METHODS)
    (axes,) = drawn.axes
    assert axes.get_title().startswith("core, b, n = 4\n+50 -25: +25 (")
    assert sorted(text.get_text() for text in axes.texts if text.get_text()) == ["25"] * 4
    assert transitions(scores[scores.method == "core"], METRIC, METHODS) is None


def test_hours_count_every_device_and_discarded_work():
    phases = {"sample": {"wall": 3000.0, "cpu": 90.0, "discarded_wall": 600.0, "discarded_cpu": 18.0}}
    assert figures.adaptation_hours({"devices": ["GPU", "GPU"], "phases": phases}) == (2.0, "accelerator-hours")
    assert figures.adaptation_hours({"devices": [], "phases": phases}) == (pytest.approx(108 / 3600), "CPU-hours")
