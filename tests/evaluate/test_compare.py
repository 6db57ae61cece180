import numpy as np
import pandas as pd
import pytest

from ttrlab.evaluate.compare import MEASURED, VerdictRule, compare, is_claim, verdict
from ttrlab.evaluate.contrasts import Contrast
from ttrlab.evaluate.families import family_means, settings_won
from ttrlab.evaluate.paper import COLUMNS, paper_numbers

RULE = VerdictRule()
NAN = float("nan")


@pytest.mark.parametrize(
    "printed, value, low, high, expected",
    [
        (5.0, 4.0, 1.0, 7.0, "reproduced"),
        (5.0, 2.0, -1.0, 5.0, "unresolved"),
        (5.0, 0.5, -1.0, 2.0, "contradicted"),
        (5.0, -3.0, -5.0, -1.0, "contradicted"),
        (5.0, 2.0, 1.0, 3.0, "unresolved"),
        (-5.0, -4.0, -6.0, -2.0, "reproduced"),
        (1.3, 1.0, -4.0, 6.0, "unresolved"),
        (0.1, 0.2, -1.0, 1.4, "reproduced"),
    ],
)
def test_verdict_on_a_difference(printed, value, low, high, expected):
    assert verdict(printed, True, value, low, high, 3, RULE)[0] == expected


@pytest.mark.parametrize(
    "value, low, high, expected",
    [(70, 69, 71, "reproduced"), (70, 60, 80, "unresolved"), (50, 45, 55, "contradicted"), (71, 69, 73, "unresolved")],
)
def test_verdict_on_a_value(value, low, high, expected):
    assert verdict(70.0, False, value, low, high, 3, RULE)[0] == expected


def test_nothing_measured_is_not_run_and_nothing_printed_or_too_few_seeds_is_unresolved():
    assert verdict(5.0, True, NAN, NAN, NAN, 0, RULE)[0] == "not run"
    assert verdict(NAN, True, 5.0, 4.0, 6.0, 3, RULE) == ("unresolved", "the paper gives no number")
    assert verdict(5.0, True, 5.0, 4.0, 6.0, 1, RULE) == ("unresolved", "1 seeds, the rule asks for 3")
    assert verdict(5.0, True, 5.0, NAN, NAN, 3, RULE) == ("unresolved", "no interval")


@pytest.fixture
def paper() -> pd.DataFrame:
    rows = [
        ["core", "results", "m", "amc", "core - majority", "mean@16", "3.8", "pp", ""],
        ["core", "per-cell", "m", "amc", "core", "mean@16", "not given", "%", ""],
        ["core", "results", "m", "aime24", "core - majority", "mean@16", "7.5", "pp", ""],
        ["core", "setup", "m", "amc", "core", "setting: tau", "0.25", "", ""],
    ]
    return paper_numbers(pd.DataFrame(rows, columns=list(COLUMNS)))


def measured(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(MEASURED))


def test_each_printed_number_gets_our_value_and_a_verdict(paper):
    ours = measured(("m", "amc", "core - ttrl", "mean@16", 4.0, 2.0, 6.0, 83, 3), ("m", "amc", "core", "mean@16", 50.0, 48.0, 52.0, 83, 3))
    table = compare(paper, ours, RULE, names={"ttrl": "majority"})
    assert table["verdict"].tolist() == ["reproduced", "unresolved", "not run", "not run"]
    assert table["measured"].tolist()[:2] == [4.0, 50.0]
    assert table["n"].tolist()[:2] == [83, 83]
    assert len(table) == len(paper)


def test_a_measurement_that_comes_twice_or_lacks_a_column_is_refused(paper):
    row = ("m", "amc", "core", "mean@16", 50.0, 48.0, 52.0, 83, 3)
    with pytest.raises(ValueError, match="measured twice: {'model': 'm'"):
        compare(paper, measured(row, row), RULE)
    with pytest.raises(ValueError, match=r"lacks the columns \['seeds'\]"):
        compare(paper, measured(row).drop(columns="seeds"), RULE)


def test_settings_are_no_claims(paper):
    assert is_claim(paper).tolist() == [True, True, True, False]


def grid(effects: dict[str, float]) -> list[Contrast]:
    rng = np.random.default_rng(0)
    return [
        Contrast(model, benchmark, "core", "majority", effect + rng.normal(0, 0.1, (3, 50)))
        for model, effect in effects.items()
        for benchmark in ("math-l4", "math-l5")
    ]


def test_family_means_count_every_cell_once_and_are_in_points():
    table = family_means(grid({"a": 0.10, "b": 0.10, "c": 0.40}), {"a": "small", "b": "small", "c": "large"}, "mean@16", resamples=300)
    means = table.set_index("model")["value"]
    assert means["small"] == pytest.approx(10, abs=2)
    assert means["large"] == pytest.approx(40, abs=2)
    assert means["all"] == pytest.approx((4 * means["small"] + 2 * means["large"]) / 6)
    assert table["n"].tolist() == [6, 4, 2]
    assert ((table["low"] < table["value"]) & (table["value"] < table["high"])).all()


def test_settings_won_and_its_tests_are_over_cells():
    won = settings_won(grid({f"m{i}": 0.3 for i in range(6)} | {"loser": -0.3}))
    assert (won["settings"], won["settings won"]) == (14, 12)
    assert won["sign test p"] == pytest.approx(2 * (1 + 14 + 91) / 2**14)


def test_a_model_without_family_and_mixed_arms_are_refused_by_name():
    with pytest.raises(KeyError, match="model 'c' belongs to no family"):
        family_means(grid({"c": 0.1}), {"a": "small"}, "mean@16", resamples=10)
    with pytest.raises(ValueError, match="one pair of methods"):
        settings_won([*grid({"a": 0.1}), Contrast("a", "amc", "core", "cisc", np.zeros((3, 5)))])
