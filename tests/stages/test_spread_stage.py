"""The tables overall and variance of a study, from its questions' scores."""

import sys

import pandas as pd
import pytest

from tests.report.world import METHODS, METRIC, SPEC, make_plan, tables
from ttrlab.files import hashes
from ttrlab.stages import spread


def build(scored, folder, spec=SPEC):
    folder.mkdir(parents=True)
    scored.to_csv(folder / "questions.csv", index=False)
    with pytest.MonkeyPatch.context() as patched:
        options = ["--questions", str(folder / "questions.csv"), "--tables", str(folder / "tables")]
        patched.setattr(sys, "argv", ["spread", "--spec", spec.model_dump_json(), *options])
        spread.main()
    return folder / "tables"


def test_both_tables_in_three_forms_the_same_bytes_twice(tmp_path):
    scored = tables(make_plan(40), 40)[0]
    a, b = (build(scored, tmp_path / turn) for turn in ("a", "b"))
    assert hashes(a) == hashes(b)
    assert sorted(path.name for path in a.iterdir()) == [
        f"{table}.{kind}" for table in ("overall", "variance") for kind in ("csv", "md", "tex")
    ]
    overall, variance = (pd.read_csv(a / f"{name}.csv") for name in ("overall", "variance"))
    assert overall[overall.measure == "IQM"].method.tolist() == list(METHODS)
    assert set(overall[overall.measure != "IQM"].baseline) == {"base", "majority"}
    assert overall.value.between(overall.low, overall.high).all()
    assert ((variance[["question", "seed", "interaction", "decoding"]].sum(axis=1) - 1).abs() < 1e-9).all()
    assert "core - majority" in (a / "variance.md").read_text()


def test_a_study_without_a_mean_over_rollouts_says_why_its_variance_is_not_split(tmp_path):
    scored = tables(make_plan(40), 40)[0].replace({METRIC: "greedy"})
    found = build(scored, tmp_path / "a", SPEC.model_copy(update={"metrics": ("greedy",)}))
    assert "No metric of this study is a mean over several roll-outs" in (found / "variance.md").read_text()
    assert "IQM over base" not in (found / "overall.md").read_text()
