"""Steps to the vote's plateau from the curves of a hand-made study."""

import sys

import pandas as pd
import pytest

from tests.report.world import SPEC, make_plan
from ttrlab.config.specs import EvidenceSpec
from ttrlab.files import write_text
from ttrlab.stages import efficiency

CURVES = {
    "base": {0: 0.2},
    "majority": {8: 0.3, 16: 0.4, 24: 0.6},
    "core": {8: 0.4, 16: 0.6, 24: 0.7},
    "oracle": {8: 0.2, 16: 0.3, 24: 0.4},
}
"""Method -> step -> score of every question and seed."""


def write_curves(folder, plan, curves):
    for cell in plan.cells:
        table = pd.DataFrame({step: [level] * 6 for step, level in curves[cell.method].items()}, index=[f"q{i}" for i in range(6)])
        write_text(folder / cell.path / "curves.csv", table.to_csv(index_label="question_id"))


def build(folder, curves=CURVES):
    plan = make_plan(6)
    write_curves(folder / "cells", plan, curves)
    write_text(folder / "plan.json", plan.model_dump_json(exclude_unset=True))
    spec = EvidenceSpec.model_validate(SPEC.model_dump())
    files = {"--plan": folder / "plan.json", "--cells": folder / "cells", "--table": folder / "efficiency.csv"}
    with pytest.MonkeyPatch.context() as patched:
        arguments = [str(part) for pair in files.items() for part in pair]
        patched.setattr(sys, "argv", ["efficiency", "--spec", spec.model_dump_json(), *arguments])
        efficiency.main()
    return pd.read_csv(folder / "efficiency.csv").set_index("method")


def test_a_method_that_arrives_earlier_needs_fewer_steps_and_one_that_does_not_arrive_infinitely_many(tmp_path):
    table = build(tmp_path)
    assert table.index.tolist() == ["core", "oracle"]
    assert table.fewer["core"] == pytest.approx(1 - 16 / 24)
    assert table.fewer["oracle"] == -float("inf")
    assert table.loc["core", ["n", "seeds", "points", "plateau", "baseline_steps"]].tolist() == [6, 2, 4, 0.6, 24]


def test_arms_are_compared_at_the_steps_that_both_have_and_too_few_give_no_row(tmp_path):
    table = build(tmp_path, CURVES | {"core": {8: 0.4, 24: 0.7}, "oracle": {24: 0.7}})
    assert table.index.tolist() == ["core"]
    assert table.points["core"] == 3
