import numpy as np
import pandas as pd
import pytest

from ttrlab.evaluate.deployment import EVERY, judge_table, selector_table
from ttrlab.rectifier.metrics import COUNTS

CELL = {"model": "m", "benchmark": "b"}


def selection(question, seed, verdict, selector="weighted", judgements=4):
    row = {**CELL, "method": "majority", "seed": seed, "judge": "truer", "question_id": question, "selector": selector}
    return {**row, "verdict": verdict, "judgements": judgements, "output_tokens": 10 * judgements}


def test_selectors_are_scored_over_questions_and_seeds_and_cost_a_run():
    rows = [selection("p", 0, 1), selection("q", 0, 0), selection("p", 1, 1), selection("q", 1, -1)]
    (row,) = selector_table(pd.DataFrame(rows)).to_dict("records")
    assert (row["accuracy"], row["undecided"], row["n"], row["seeds"]) == (0.5, 1, 2, 2)
    assert (row["judgements"], row["output_tokens"]) == (8, 80)


def count(question, judge, accurate, accepted, method="majority", reasons_right=0):
    values = dict(zip(COUNTS, (2, 2, accurate, accepted, 0, 0), strict=True))
    return {
        **CELL,
        "method": method,
        "seed": 0,
        "judge": judge,
        "question_id": question,
        **values,
        "reasons": 4,
        "reasons_right": reasons_right,
    }


def test_judges_are_compared_on_identical_pools_with_paired_intervals():
    rows = [count(q, "untrained", 2, 2) for q in "pqrs"] + [count(q, "trained", 4, 0, reasons_right=3) for q in "pqrs"]
    table = judge_table(pd.DataFrame(rows)).set_index("rate")
    assert set(table["first"]) == {"untrained"}
    assert (table.loc["accuracy", "first_value"], table.loc["accuracy", "second_value"]) == (0.5, 1.0)
    assert table.loc["accuracy", ["low", "high"]].tolist() == [0.5, 0.5]
    assert table.loc["wrong_accepted", "difference"] == -1.0
    assert table.loc["reason", "difference"] == 0.75
    assert table.loc["accuracy", "judgements"] == 16


def test_an_interval_widens_with_the_spread_over_questions():
    trained = [count(q, "trained", accurate, 2) for q, accurate in zip("pqrs", (4, 4, 0, 2), strict=True)]
    row = judge_table(pd.DataFrame([count(q, "untrained", 2, 2) for q in "pqrs"] + trained)).set_index("rate").loc["accuracy"]
    assert row["low"] < row["difference"] < row["high"]


def test_several_methods_have_a_row_over_all_of_them():
    rows = [count("p", judge, 2, 2, method) for judge in ("untrained", "trained") for method in ("base", "majority")]
    table = judge_table(pd.DataFrame(rows))
    assert table.method.unique().tolist() == ["base", "majority", EVERY]
    assert table[table.method == EVERY].judgements.tolist() == [8] * 5


def test_pools_that_differ_are_refused():
    rows = [count("p", "untrained", 2, 2), {**count("p", "trained", 2, 2), "right": 3}]
    with pytest.raises(ValueError, match="identical pools"):
        judge_table(pd.DataFrame(rows))
    assert np.isfinite(judge_table(pd.DataFrame([rows[0], count("p", "trained", 2, 2)])).difference).all()
