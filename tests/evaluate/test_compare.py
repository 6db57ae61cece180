import numpy as np
import pandas as pd
import pytest

from ttrlab.config.evidence import VerdictRule
from ttrlab.evaluate.compare import MEASURED, Ours, Printed, compare, is_claim, kind_of, verdict
from ttrlab.evaluate.contrasts import Contrast
from ttrlab.evaluate.families import EVERY, family_table, settings_won
from ttrlab.evaluate.paper import COLUMNS, paper_numbers

RULE = VerdictRule()
NAN = float("nan")


def judge(printed, metric, difference, value, low, high, seeds=3, unit="%", n=40, wins=NAN):
    kind = kind_of(metric, difference)
    return verdict(Printed(printed, unit, kind), Ours(value, low, high, n, seeds, wins), RULE)


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
    assert judge(printed, "mean@16", True, value, low, high)[0] == expected


@pytest.mark.parametrize(
    "value, low, high, expected",
    [(70, 69, 71, "reproduced"), (70, 60, 80, "unresolved"), (50, 45, 55, "contradicted"), (71, 69, 73, "unresolved")],
)
def test_verdict_on_a_value(value, low, high, expected):
    assert judge(70.0, "mean@16", False, value, low, high)[0] == expected


def test_nothing_measured_is_not_run_and_nothing_printed_or_too_few_seeds_is_unresolved():
    assert judge(5.0, "mean@16", True, NAN, NAN, NAN, 0)[0] == "not run"
    assert judge(NAN, "mean@16", True, 5.0, 4.0, 6.0) == ("unresolved", "the paper gives no number")
    assert judge(5.0, "mean@16", True, 5.0, 4.0, 6.0, 1) == ("unresolved", "1 seeds, the rule asks for 3")
    assert judge(5.0, "mean@16", True, 5.0, NAN, NAN) == ("unresolved", "no interval")


def test_fewer_steps_are_an_effect_and_a_method_that_never_arrives_contradicts_it():
    metric = "fewer steps to the plateau of majority"
    assert judge(54.0, metric, False, 40.0, 10.0, 60.0)[0] == "reproduced"
    assert judge(54.0, metric, False, -np.inf, -np.inf, 20.0)[0] == "contradicted"


def test_a_lower_bound_is_reproduced_above_it():
    ends = [(86.0, 90.0, "reproduced"), (84.0, 86.0, "unresolved"), (80.0, 84.0, "contradicted")]
    assert [judge(85.0, "mean@16 lower bound", False, 85.0, low, high)[0] for low, high, _ in ends] == [word for *_, word in ends]


def test_tests_over_settings_are_judged_by_whether_ours_rejects_and_on_which_side():
    assert judge(13, "settings won", True, 13.0, 9.3, 14.0, unit="count", n=14, wins=13.0)[0] == "reproduced"
    assert judge(13, "settings won", True, 9.0, 4.9, 12.2, unit="count", n=14, wins=9.0)[0] == "unresolved"
    assert judge(13, "settings won", True, 1.0, 0.0, 4.7, unit="count", n=14, wins=1.0)[0] == "contradicted"
    assert judge(0.002, "sign test p", True, 0.001, NAN, NAN, unit="p", n=14, wins=13.0)[0] == "reproduced"
    assert judge(0.002, "sign test p", True, 0.001, NAN, NAN, unit="p", n=14, wins=1.0)[0] == "contradicted"
    assert judge(0.001, "wilcoxon p", True, 0.2, NAN, NAN, unit="p", n=14, wins=9.0)[0] == "unresolved"


def test_a_value_in_other_units_has_a_relative_tolerance():
    assert judge(0.29, "ratio", False, 0.3, 0.28, 0.31, unit="ratio")[0] == "reproduced"
    assert judge(1102.7, "tokens", False, 2000.0, 1900.0, 2100.0, unit="tokens")[0] == "contradicted"


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


def row(method: str, value: float, low: float, high: float) -> tuple[object, ...]:
    return ("m", "amc", method, "mean@16", "", value, low, high, 83, 3, 1, NAN)


def test_each_printed_number_gets_our_value_and_a_verdict(paper):
    table = compare(paper, measured(row("core - majority", 4.0, 2.0, 6.0), row("core", 50.0, 48.0, 52.0)), RULE)
    assert table["verdict"].tolist() == ["reproduced", "unresolved", "not run", "not run"]
    assert table["measured"].tolist()[:2] == [4.0, 50.0]
    assert table["n"].tolist()[:2] == [83, 83]
    assert len(table) == len(paper)


def test_a_measurement_that_comes_twice_or_lacks_a_column_is_refused(paper):
    one = row("core", 50.0, 48.0, 52.0)
    with pytest.raises(ValueError, match="measured twice: {'model': 'm'"):
        compare(paper, measured(one, one), RULE)
    with pytest.raises(ValueError, match=r"lacks the columns \['seeds'\]"):
        compare(paper, measured(one).drop(columns="seeds"), RULE)


def test_settings_are_no_claims(paper):
    assert is_claim(paper).tolist() == [True, True, True, False]


def grid(effects: dict[str, float]) -> list[Contrast]:
    rng = np.random.default_rng(0)
    return [
        Contrast(model, benchmark, "core", "majority", effect + rng.normal(0, 0.1, (3, 50)))
        for model, effect in effects.items()
        for benchmark in ("math-l4", "math-l5")
    ]


def test_family_means_count_every_cell_once_and_a_group_that_lacks_a_cell_is_left_out():
    groups = {"small": ("a", "b"), "large": ("c",), "absent": ("a", "d")}
    table = family_table(grid({"a": 0.10, "b": 0.10, "c": 0.40}), groups, {"both": ("math-l4", "math-l5")}, resamples=300)
    assert table["models"].tolist() == [EVERY, "small", "large", EVERY]
    assert table["benchmarks"].tolist() == [EVERY, EVERY, EVERY, "both"]
    every, small, large, both = table["difference"]
    assert (small, large) == (pytest.approx(0.10, abs=0.02), pytest.approx(0.40, abs=0.02))
    assert every == both == pytest.approx((4 * small + 2 * large) / 6)
    assert table["cells"].tolist() == [6, 4, 2, 6]
    assert ((table["low"] < table["difference"]) & (table["difference"] < table["high"])).all()


def test_settings_won_and_its_tests_are_over_cells():
    won = settings_won(grid({f"m{i}": 0.3 for i in range(6)} | {"loser": -0.3}))
    assert (won.cells, won.won, won.tied) == (14, 12, 0)
    assert won.sign_p == pytest.approx(2 * (1 + 14 + 91) / 2**14)


def test_mixed_arms_are_refused():
    with pytest.raises(ValueError, match="one pair of methods"):
        settings_won([*grid({"a": 0.1}), Contrast("a", "amc", "core", "cisc", np.zeros((3, 5)))])
