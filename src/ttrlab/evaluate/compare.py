"""Paper against measured: one verdict a printed number, by a rule that stands in the config before any run."""

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from ttrlab.config.evidence import VerdictRule
from ttrlab.evaluate.paper import WINDOW

Verdict = Literal["reproduced", "unresolved", "contradicted", "not run"]
Kind = Literal["effect", "value", "bound", "wins", "test"]

MEASURED = ("model", "benchmark", "method", "metric", WINDOW, "value", "low", "high", "n", "seeds", "cells", "wins")
"""Columns of what was measured: over ``n`` questions in ``cells`` cells. ``wins``: for ``SETTINGS_WON`` and its tests, settings won of the
``n`` that are not tied; NaN otherwise."""

FEWER_STEPS = "fewer steps to the plateau of "
SETTINGS_WON, SIGN_P, WILCOXON_P = "settings won", "sign test p", "wilcoxon p"
LOWER_BOUND = " lower bound"
POINTS = ("%", "pp")
_KEY = ["model", "benchmark", "method", "metric", WINDOW]


class Printed(NamedTuple):
    """A number of the paper: NaN ``number`` where its text does not give it."""

    number: float
    unit: str
    kind: Kind


class Ours(NamedTuple):
    """What stands beside it, in its unit: NaN ``value`` where nothing was measured."""

    value: float
    low: float
    high: float
    n: int
    seeds: int
    wins: float


def kind_of(metric: str, difference: bool) -> Kind:
    """How a printed number is judged, by its metric and whether it compares two methods."""
    if metric == SETTINGS_WON:
        return "wins"
    if metric in (SIGN_P, WILCOXON_P):
        return "test"
    if metric.endswith(LOWER_BOUND):
        return "bound"
    return "effect" if difference or metric.startswith(FEWER_STEPS) else "value"


def verdict(printed: Printed, ours: Ours, rule: VerdictRule) -> tuple[Verdict, str]:
    """The verdict on one printed number and why."""
    if np.isnan(ours.value):
        return "not run", "no measurement of this model, benchmark, method and metric"
    if np.isnan(printed.number):
        return "unresolved", "the paper gives no number"
    if ours.seeds < rule.min_seeds:
        return "unresolved", f"{ours.seeds} seeds, the rule asks for {rule.min_seeds}"
    if printed.kind == "wins":
        return _test_verdict(float(stats.binomtest(int(ours.wins), ours.n).pvalue) if ours.n else 1.0, ours, rule)
    if printed.kind == "test":
        return _test_verdict(ours.value, ours, rule)
    if np.isnan(ours.low) or np.isnan(ours.high):
        return "unresolved", "no interval"
    if printed.kind == "bound":
        return _bound_verdict(printed.number, ours)
    if printed.kind == "effect" and abs(printed.number) >= rule.negligible:
        return _effect_verdict(printed.number, ours, rule)
    return _value_verdict(printed, ours, rule)


def _test_verdict(p: float, ours: Ours, rule: VerdictRule) -> tuple[Verdict, str]:
    told = f"{ours.wins:g} of {ours.n} settings won, p = {p:.2g}"
    if p >= rule.alpha:
        return "unresolved", f"{told}: not below {rule.alpha:g}"
    return ("reproduced" if 2 * ours.wins > ours.n else "contradicted"), told


def _bound_verdict(bound: float, ours: Ours) -> tuple[Verdict, str]:
    if ours.low >= bound:
        return "reproduced", f"the interval lies above {bound:g}"
    if ours.high < bound:
        return "contradicted", f"the interval lies below {bound:g}"
    return "unresolved", f"the interval holds {bound:g}"


def _effect_verdict(printed: float, ours: Ours, rule: VerdictRule) -> tuple[Verdict, str]:
    sign = 1.0 if printed > 0 else -1.0
    wanted = rule.effect_share * abs(printed)
    near, far = sorted((sign * ours.low, sign * ours.high))
    if far < wanted:
        return "contradicted", f"the interval excludes an effect of {sign * wanted:+.2f}, {rule.effect_share:.0%} of the claim"
    if near > 0 and sign * ours.value >= wanted:
        return "reproduced", f"the interval excludes 0 and the estimate is at least {rule.effect_share:.0%} of the claim"
    return "unresolved", f"the interval holds both 0 and {sign * wanted:+.2f}" if near <= 0 else "same sign, smaller than asked for"


def _value_verdict(printed: Printed, ours: Ours, rule: VerdictRule) -> tuple[Verdict, str]:
    width = rule.tolerance if printed.unit in POINTS else rule.relative * abs(printed.number)
    lowest, highest = printed.number - width, printed.number + width
    about = f"{printed.number:g} ± {width:g}"
    if ours.high < lowest or ours.low > highest:
        return "contradicted", f"the interval lies outside {about}"
    if lowest <= ours.low and ours.high <= highest:
        return "reproduced", f"the interval lies within {about}"
    return "unresolved", f"the interval overlaps {about} in part"


def compare(paper: pd.DataFrame, measured: pd.DataFrame, rule: VerdictRule) -> pd.DataFrame:
    """Every row of ``paper_numbers`` with our value, interval, n and seeds, a verdict and its reason.

    ``measured``: columns ``MEASURED``, one row a (model, benchmark, method, metric, window), by the paper's names and in its units,
    differences named ``a - b``. ValueError for a measurement that comes twice.
    """
    missing = sorted(set(MEASURED) - set(measured.columns))
    if missing:
        raise ValueError(f"measured lacks the columns {missing}, it has {sorted(measured.columns)}")
    ours = measured[list(MEASURED)]
    twice = ours[ours.duplicated(_KEY)]
    if len(twice):
        raise ValueError(f"measured twice: {twice[_KEY].iloc[0].to_dict()}")
    joined = paper.merge(ours.rename(columns={"value": "measured"}), on=_KEY, how="left", validate="many_to_one")
    verdicts = [_verdict_of(row, rule) for _, row in joined.iterrows()]
    return joined.assign(verdict=[word for word, _ in verdicts], reason=[reason for _, reason in verdicts])


def _verdict_of(row: pd.Series, rule: VerdictRule) -> tuple[Verdict, str]:
    """``row``: of the joined table."""
    printed = Printed(float(row["number"]), str(row["unit"]), kind_of(str(row["metric"]), bool(row["difference"])))
    n, seeds = (0 if np.isnan(row[name]) else int(row[name]) for name in ("n", "seeds"))
    ours = Ours(float(row["measured"]), float(row["low"]), float(row["high"]), n, seeds, float(row["wins"]))
    return verdict(printed, ours, rule)


def is_claim(paper: pd.DataFrame) -> pd.Series:
    """True for the rows of ``paper_numbers`` that are results, not settings, sizes or worked examples."""
    described = paper["metric"].str.match(r"setting:|example:|questions$|seeds?$|responses an arm$|updates$|rectifier step$")
    return (paper["method"] != "") & ~described & ~paper["unit"].isin(["id", "name"])
