"""Paper against measured: one verdict a printed number, by a rule that stands in the config before any run."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field

from ttrlab.config.settings import Frozen

Verdict = Literal["reproduced", "unresolved", "contradicted", "not run"]

MEASURED = ("model", "benchmark", "method", "metric", "value", "low", "high", "n", "seeds")
_KEY = ["model", "benchmark", "method", "metric"]


def measured_rows(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A ``contrasts.contrast_table`` of shares as rows for ``compare``: points or per cent, the interval for questions like these."""
    arms = [f"{method} - {baseline}" if baseline else method for method, baseline in zip(table["method"], table["baseline"], strict=True)]
    ends = {"value": "difference", "low": "population_low", "high": "population_high"}
    scaled = {name: 100.0 * table[column] for name, column in ends.items()}
    rows = table[["model", "benchmark", "n", "seeds"]].assign(method=arms, metric=metric, **scaled)
    return rows[list(MEASURED)]


class VerdictRule(Frozen):
    """When a printed number counts as reproduced. Numbers in the paper's units (per cent, points).

    A **difference** of size d is *reproduced* when our interval excludes 0 on the paper's side and our estimate is at least
    ``effect_share`` of d; *contradicted* when the interval lies below ``effect_share`` of d, so that even that part of the claim is ruled
    out. A printed difference smaller than ``negligible`` is a claim of "no difference" and treated as a value.
    A **value** v is *reproduced* when our interval lies within ``tolerance`` of v, *contradicted* when it lies outside altogether.
    Everything else is *unresolved*, as is anything measured with fewer than ``min_seeds`` seeds.
    """

    effect_share: float = Field(0.5, gt=0, le=1)
    negligible: float = Field(0.3, ge=0)
    tolerance: float = Field(2.0, gt=0)
    min_seeds: int = Field(3, ge=1)


def verdict(printed: float, difference: bool, value: float, low: float, high: float, seeds: int, rule: VerdictRule) -> tuple[Verdict, str]:
    """The verdict on one printed number and why; NaN ``printed`` is a number that the paper does not give, NaN ``value`` was not run."""
    if np.isnan(value):
        return "not run", "no measurement of this model, benchmark, method and metric"
    if np.isnan(printed):
        return "unresolved", "the paper gives no number"
    if seeds < rule.min_seeds:
        return "unresolved", f"{seeds} seeds, the rule asks for {rule.min_seeds}"
    if np.isnan(low) or np.isnan(high):
        return "unresolved", "no interval"
    if difference and abs(printed) >= rule.negligible:
        return _effect_verdict(printed, value, low, high, rule)
    return _value_verdict(printed, low, high, rule)


def _effect_verdict(printed: float, value: float, low: float, high: float, rule: VerdictRule) -> tuple[Verdict, str]:
    sign = 1.0 if printed > 0 else -1.0
    wanted = rule.effect_share * abs(printed)
    near, far = sorted((sign * low, sign * high))
    if far < wanted:
        return "contradicted", f"the interval excludes an effect of {sign * wanted:+.2f}, {rule.effect_share:.0%} of the claim"
    if near > 0 and sign * value >= wanted:
        return "reproduced", f"the interval excludes 0 and the estimate is at least {rule.effect_share:.0%} of the claim"
    return "unresolved", f"the interval holds both 0 and {sign * wanted:+.2f}" if near <= 0 else "same sign, smaller than asked for"


def _value_verdict(printed: float, low: float, high: float, rule: VerdictRule) -> tuple[Verdict, str]:
    lowest, highest = printed - rule.tolerance, printed + rule.tolerance
    if high < lowest or low > highest:
        return "contradicted", f"the interval lies outside {printed:g} ± {rule.tolerance:g}"
    if lowest <= low and high <= highest:
        return "reproduced", f"the interval lies within {printed:g} ± {rule.tolerance:g}"
    return "unresolved", f"the interval overlaps {printed:g} ± {rule.tolerance:g} in part"


def compare(paper: pd.DataFrame, measured: pd.DataFrame, rule: VerdictRule, names: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Every row of ``paper_numbers`` with our value, interval, n and seeds, a verdict and its reason.

    ``measured``: columns ``MEASURED``, one row a (model, benchmark, method, metric), in the paper's units, differences named ``a - b``.
    ``names``: our name of a model, benchmark or method -> the paper's, where they differ (inside ``a - b`` too). ValueError for a
    measurement that comes twice.
    """
    missing = sorted(set(MEASURED) - set(measured.columns))
    if missing:
        raise ValueError(f"measured lacks the columns {missing}, it has {sorted(measured.columns)}")
    ours = measured[list(MEASURED)].copy()
    for column in _KEY[:3]:
        ours[column] = [_renamed(name, names or {}) for name in ours[column]]
    twice = ours[ours.duplicated(_KEY)]
    if len(twice):
        raise ValueError(f"measured twice: {twice[_KEY].iloc[0].to_dict()}")
    ours = ours.rename(columns={"value": "measured"})
    joined = paper.merge(ours, on=_KEY, how="left", validate="many_to_one")
    columns = (joined[name].to_numpy(dtype=np.float64) for name in ("number", "measured", "low", "high"))
    seeds = joined["seeds"].fillna(0).to_numpy(dtype=np.int64)
    verdicts = [
        verdict(float(printed), bool(difference), float(value), float(low), float(high), int(runs), rule)
        for printed, value, low, high, difference, runs in zip(*columns, joined["difference"], seeds, strict=True)
    ]
    return joined.assign(verdict=[word for word, _ in verdicts], reason=[reason for _, reason in verdicts])


def _renamed(name: str, names: Mapping[str, str]) -> str:
    return " - ".join(names.get(part, part) for part in name.split(" - "))


def is_claim(paper: pd.DataFrame) -> pd.Series:
    """True for the rows of ``paper_numbers`` that are results, not settings, sizes or worked examples."""
    described = paper["metric"].str.match(r"setting:|example:|questions$|seeds?$|responses an arm$|updates$|rectifier step$")
    return (paper["method"] != "") & ~described & ~paper["unit"].isin(["id", "name"])
