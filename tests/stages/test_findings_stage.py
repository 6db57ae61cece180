"""A page about a finished study, from its files alone: true for what is there, silent about what is not."""

import sys

import pandas as pd
import pytest
import yaml

from tests.report.world import METRIC, make_plan, tables, write_study
from ttrlab.config.specs import audit_spec
from ttrlab.files import write_json, write_text
from ttrlab.stages import audit, findings

QUESTIONS = 6
KEYS = ["model", "benchmark", "method", "seed"]


def audited(plan, cell, folder, data):
    """The audit stage on a cell's stored training."""
    with pytest.MonkeyPatch.context() as patched:
        spec = audit_spec(plan, cell).model_copy(update={"train": 4}).model_dump_json()
        files = ["--gold", str(data / "b/gold.jsonl"), "--adapted", str(folder / "adapt"), "--audit", str(folder / "audit.csv")]
        patched.setattr(sys, "argv", ["audit", "--spec", spec, *files])
        audit.main()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study of two seeds; the oracle's second seed has not been scored."""
    made = make_plan(QUESTIONS)
    evaluation = made.study.evaluation.model_copy(update={"samples": 4, "metrics": (METRIC,)})
    plan = made.model_copy(update={"study": made.study.model_copy(update={"evaluation": evaluation})})
    folder = write_study(tmp_path_factory.mktemp("results") / "tiny", plan, QUESTIONS)
    scored, summary = tables(plan, QUESTIONS)
    for cell in plan.cells:
        if (cell.method, cell.seed) == ("oracle", 1):
            continue
        own = folder / "cells" / cell.path
        for name, table in {"questions.csv": scored, "scores.csv": summary}.items():
            chosen = table[(table[KEYS] == [cell.model, cell.benchmark, cell.method, cell.seed]).all(axis=1)]
            write_text(own / name, chosen.to_csv(index=False))
        if cell.method != "base":
            audited(plan, cell, own, folder / "data")
            write_json(own / "adapt" / "manifest.json", {"revision": "0123456789ab", "versions": {"python": "3.11"}})
    catalogue = plan.catalogue.model_dump(mode="json", exclude_unset=True)
    for kind in ("models", "benchmarks", "methods"):
        write_text(folder.parent / f"catalogue/{kind}/all.yaml", yaml.safe_dump(catalogue[kind]))
    return folder


@pytest.fixture(scope="module")
def page(study):
    out = study.parent / "page.md"
    arguments = ["--studies", str(study), str(study.parent / "nowhere"), "--catalogue", str(study.parent / "catalogue")]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            sys, "argv", ["findings", *arguments, "--bench", "none.json", "--title", "T", "--command", "make it", "--out", str(out)]
        )
        findings.main()
    return out.read_text()


def test_the_page_counts_what_is_finished(page):
    assert "| 7 of 8 | seed 0: base, majority, core, oracle; seed 1: base, majority, core |" in page
    assert "nothing in it is edited by hand" in page


def test_scores_are_the_means_of_the_cells(page, study):
    scored = pd.concat(pd.read_csv(path) for path in study.glob("cells/m/b/core/seed*/questions.csv"))
    assert f"| b | core | 2 | {QUESTIONS} | {100 * scored.value.mean():.1f} [" in page
    assert METRIC in page


def test_the_base_models_roll_outs_are_replayed_and_the_undecided_are_listed(page):
    assert f"{2 * QUESTIONS} groups, {8 * QUESTIONS} roll-outs of 2 seeds, {6 * QUESTIONS} with an answer" in page
    assert f"Undecided: 0 of {8 * QUESTIONS} roll-outs, 0 answers." in page


def test_curves_and_audit_are_there_and_the_figure_exists(page, study):
    assert "![tiny: training](page/tiny-training.png)" in page
    assert (study.parent / "page/tiny-training.png").stat().st_size > 1000
    assert "| b | majority | 2 |" in page


def test_no_study_with_a_finished_cell_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(
        sys, "argv", ["f", "--studies", str(tmp_path), "--bench", "b", "--title", "t", "--command", "c", "--out", str(tmp_path / "p.md")]
    )
    with pytest.raises(ValueError, match="has a finished cell"):
        findings.main()
