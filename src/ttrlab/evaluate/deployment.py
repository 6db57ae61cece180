"""Selectors beside each other on judged endpoints (TRUER, Tables 15 to 18), and judges on identical pools (Table 13)."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ttrlab.evaluate.bootstrap import resample_weights
from ttrlab.rectifier.metrics import COUNTS, RateChange, compare_judges, compare_shares
from ttrlab.types import IntArray

POOL = ["model", "benchmark", "method"]
REASONS = ["reasons_right", "reasons"]
EVERY = "all methods"
"""The method's name in rows over all pools of a benchmark."""


def selector_table(selections: pd.DataFrame) -> pd.DataFrame:
    """One row a pool, judge and selector: accuracy over questions and seeds, a lower bound where ``undecided``; ``n`` questions;
    judgements and output tokens a run (mean over seeds). ``selections``: a row a question, seed, judge and selector."""
    graded = selections.assign(accuracy=selections.verdict == 1, undecided=selections.verdict == -1)
    found = graded.groupby([*POOL, "judge", "selector"], sort=False).agg(
        accuracy=("accuracy", "mean"),
        undecided=("undecided", "sum"),
        n=("question_id", "nunique"),
        seeds=("seed", "nunique"),
        judgements=("judgements", "sum"),
        output_tokens=("output_tokens", "sum"),
    )
    per_run = found[["judgements", "output_tokens"]].div(found.seeds, axis=0)
    return found.assign(**per_run).reset_index()


def judge_table(counts: pd.DataFrame) -> pd.DataFrame:
    """One row a pool, pair of judges and rate: both values, the difference (second minus first) and its paired 95 % interval.

    ``counts``: a row a question, seed and judge. Questions are resampled, all seeds of one together; rows over all methods sum the pools
    of a benchmark by question. The rate ``reason``: valid judgements whose reason works out the gold answer, where that can be told.
    """
    everything = counts.assign(method=EVERY)
    pooled = pd.concat([counts, everything], ignore_index=True) if counts.method.nunique() > 1 else counts
    rows: list[dict[str, Any]] = []
    for pool, part in pooled.groupby(POOL, sort=False):
        for first, second in combinations(part.judge.unique().tolist(), 2):
            names = {**dict(zip(POOL, pool, strict=True)), "first": first, "second": second, "seeds": part.seed.nunique()}
            rows += [{**names, **row} for row in _changes(part, first, second)]
    return pd.DataFrame(rows)


def _changes(part: pd.DataFrame, first: str, second: str) -> Iterator[dict[str, Any]]:
    summed = part.groupby(["judge", "question_id"])[[*COUNTS, *(name for name in REASONS if name in part)]].sum()
    of_judge = summed.index.get_level_values("judge")
    before, after = summed[of_judge == first], summed[of_judge == second]
    weights = resample_weights(len(before), name=str(part.benchmark.iloc[0]))
    changes = compare_judges(_integers(before, COUNTS), _integers(after, COUNTS), weights)
    if "reasons" in part:
        changes["reason"] = compare_shares(_integers(before, REASONS), _integers(after, REASONS), weights)
    sizes = {"n": len(before), "judgements": int(before[["right", "wrong"]].to_numpy().sum())}
    for rate, change in changes.items():
        yield {"rate": rate, **_columns(change), **sizes}


def _columns(change: RateChange) -> dict[str, float]:
    return {
        "first_value": change.first,
        "second_value": change.second,
        "difference": change.difference,
        "low": change.low,
        "high": change.high,
    }


def _integers(table: pd.DataFrame, columns: tuple[str, ...] | list[str]) -> IntArray:
    return table[list(columns)].to_numpy(dtype=np.int64)
