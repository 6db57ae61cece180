"""What the first view of the page shows: the grid, every score with its interval, the contrasts. Tables in, plain data out."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.colors import to_hex

from ttrlab.config.study import Plan
from ttrlab.evaluate.paper import NOT_GIVEN
from ttrlab.report.figures import colours
from ttrlab.report.tables import endpoint_means

CONTRAST_COLUMNS = ("metric", "method", "baseline", "difference", "n", "seeds", "low", "high", "seeds_low", "seeds_high", "population_low",
                    "population_high", "sign_p", "wilcoxon_p", "wilcoxon_p_holm", "cohens_dz", "rank_biserial", "detectable")  # fmt: skip

CLAIM_COLUMNS = ("paper", "where", "model", "benchmark", "method", "metric", "window", "value", "unit", "measured", "low", "high", "n",
                 "seeds", "verdict", "reason")  # fmt: skip

Pairs = Mapping[tuple[str, str], int]
"""(model, benchmark) -> its number on the page."""


def pair_numbers(plan: Plan) -> dict[tuple[str, str], int]:
    """The study's (model, benchmark) pairs, numbered in its order."""
    return {pair: number for number, pair in enumerate(plan.study.model_benchmarks)}


def methods(plan: Plan) -> list[dict[str, Any]]:
    """The study's methods with the colours that they have in its figures."""
    palette = colours(plan.study.methods)
    entries = plan.catalogue.methods
    return [
        {"name": name, "colour": to_hex(palette[name]), "gold": entries[name].gold, "adapts": entries[name].reward is not None}
        for name in plan.study.methods
    ]


def scores(summary: pd.DataFrame, intervals: pd.DataFrame, metrics: Sequence[str], pairs: Pairs) -> list[dict[str, Any]]:
    """One entry a (metric, pair, method): mean over seeds at the endpoint, its "questions like these" interval, n, seeds, undecided."""
    means = pd.concat([endpoint_means(summary, metric) for metric in metrics], ignore_index=True)
    bounds = intervals[["metric", "model", "benchmark", "method", "population_low", "population_high"]]
    joined = means.merge(bounds, how="left", on=["metric", "model", "benchmark", "method"])
    columns = ["metric", "method", "mean", "delta", "population_low", "population_high", "n", "seeds", "undecided"]
    return _by_pair(joined, columns, pairs)


def contrasts(table: pd.DataFrame, pairs: Pairs) -> list[dict[str, Any]]:
    """The contrasts of the study, one entry a row of contrasts.csv."""
    return _by_pair(table, CONTRAST_COLUMNS, pairs) if len(table) else []


def claims(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Paper against measured, one entry a printed number; what is neither given nor run says nothing and is left out."""
    if not len(table):
        return []
    said = table[(table["value"] != NOT_GIVEN) | (table["verdict"] != "not run")]
    return [{str(name): value for name, value in row.items()} for row in said[list(CLAIM_COLUMNS)].to_dict("records")]


def _by_pair(table: pd.DataFrame, columns: Sequence[str], pairs: Pairs) -> list[dict[str, Any]]:
    numbered = table.assign(pair=[pairs[key] for key in zip(table["model"], table["benchmark"], strict=True)])
    return [{str(name): value for name, value in row.items()} for row in numbered[["pair", *columns]].to_dict("records")]
