"""The whole report of a grid of artefacts: the same bytes twice. With ``-s`` the CPU seconds of every stage are printed."""

import sys
import time

import pandas as pd
import pytest

from tests.report.grid import ROOT, default_plan, write_grid
from ttrlab.files import hashes
from ttrlab.stages import aggregate, contrasts, efficiency, figures, page, paper, spread
from ttrlab.stages.plan import Jobs


def report(study, out, plan):
    """Every stage of the report on ``study``, its products moved to ``out``; CPU seconds by stage."""
    jobs = Jobs(plan, str(study))
    plain, evidence = jobs.aggregate(), jobs.evidence()
    frozen, cells, papers = study / "plan.json", study / "cells", ROOT / "config/paper/core.csv"
    offline = [path for cell in plan.cells for path in jobs.offline(cell) if path.endswith("questions.csv")]
    questions, tables = study / "questions.csv", study / "tables"
    calls = [
        (aggregate, plain, ["--plan", frozen, "--cells", cells, "--out", study]),
        (contrasts, evidence, ["--questions", questions, "--contrasts", study / "contrasts.csv", "--intervals", study / "intervals.csv",
                               "--tables", tables]),
        (spread, evidence, ["--questions", questions, "--tables", tables]),
        (efficiency, evidence, ["--plan", frozen, "--cells", cells, "--table", study / "efficiency.csv"]),
        (paper, evidence, ["--papers", papers, "--offline", *offline, "--results", study, "--fixed", study / "rules.json", "--table",
                           tables / "paper"]),
        (figures, plain, ["--plan", frozen, "--results", study, "--out", study / "evidence"]),
        (page, evidence, ["--plan", frozen, "--results", study, "--out", study / "page"]),
    ]  # fmt: skip
    spent = {}
    for stage, spec, options in calls:
        start = time.process_time()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "argv", [stage.__name__, "--spec", spec, *map(str, options)])
            stage.main()
        spent[stage.__name__.rpartition(".")[2]] = time.process_time() - start
    out.mkdir()
    for made in ("tables", "figures", "evidence", "page", "summary.csv", "contrasts.csv", "intervals.csv", "efficiency.csv", "audit.csv"):
        (study / made).rename(out / made)
    return spent


@pytest.mark.parametrize(
    ("models", "benchmarks"), [(1, 1), pytest.param(7, 6, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])], ids=["part", "default"]
)
def test_the_report_of_the_default_grid_is_the_same_bytes_twice(tmp_path, models, benchmarks):
    plan = default_plan(models, benchmarks)
    write_grid(tmp_path / "study", plan)
    assert len(plan.cells) == models * benchmarks * 5 * 3
    for turn in ("a", "b"):
        spent = report(tmp_path / "study", tmp_path / turn, plan)
        print({stage: round(seconds, 1) for stage, seconds in spent.items()}, "CPU seconds in all:", round(sum(spent.values()), 1))
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    claims = pd.read_csv(tmp_path / "a" / "tables" / "paper.csv")
    headline = claims[(claims.model == "all") & (claims.method == "core - base") & (claims.metric == "mean@16")].iloc[0]
    whole = models * benchmarks == 42
    assert headline.verdict == ("reproduced" if whole else "not run")
    if whole:
        assert (headline.cells, headline.seeds) == (42, 3)
        assert claims[claims.metric == "settings won"].iloc[0].cells == 14
    drawn = {path.stem for path in (tmp_path / "a" / "evidence").glob("*.svg")}
    evidence = "sample_efficiency recovery_region operating_regimes label_accuracy transitions reward_errors cost_gain"
    assert drawn == set(evidence.split())
