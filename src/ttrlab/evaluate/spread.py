"""A study's scores over all cells (IQM, probability of improvement), and where the variance of every score and difference comes from."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ttrlab.evaluate import aggregate, power
from ttrlab.evaluate.bootstrap import Intervals
from ttrlab.evaluate.contrasts import contrasts_from
from ttrlab.evaluate.variance import from_cells
from ttrlab.types import FloatArray

OVERALL = ("measure", "method", "baseline", "value", "low", "high", "cells", "seeds")
VARIANCE = ("model", "benchmark", "method", "baseline", "mean", "question", "seed", "interaction", "decoding", "standard_error",
            "detectable", "n", "seeds", "samples")  # fmt: skip


def runs_of(questions: pd.DataFrame, metric: str, methods: Sequence[str]) -> dict[str, FloatArray]:
    """Method -> its runs' scores (seeds, cells), over the cells and seeds that every method has; empty without any."""
    scored = questions[(questions["metric"] == metric) & questions["method"].isin(methods)]
    means = scored.groupby(["method", "seed", "model", "benchmark"], sort=False)["value"].mean()
    if set(scored["method"]) != set(methods):
        return {}
    runs = {method: means[method].unstack(["model", "benchmark"]) for method in methods}
    seeds = sorted(set.intersection(*(set(table.dropna().index) for table in runs.values())))
    cells = [cell for cell in runs[methods[0]].columns if all(cell in table for table in runs.values())]
    return {method: table.loc[seeds, cells].to_numpy(np.float64) for method, table in runs.items()} if seeds and cells else {}


def overall_table(questions: pd.DataFrame, metric: str, methods: Sequence[str], baselines: Sequence[str]) -> pd.DataFrame:
    """Every method's IQM, and its probability of improvement over each of ``baselines``, with intervals over runs (rliable's)."""
    runs = runs_of(questions, metric, methods)

    def row(measure: str, method: str, baseline: str, found: Intervals) -> dict[str, object]:
        seeds, cells = runs[method].shape
        ends = {"value": found.estimate[0], "low": found.low[0], "high": found.high[0]}
        return {"measure": measure, "method": method, "baseline": baseline, **ends, "cells": cells, "seeds": seeds}

    rows = [row("IQM", method, "", aggregate.iqm_interval(scores)) for method, scores in runs.items()]
    rows += [
        row("P(improvement)", method, baseline, aggregate.improvement_interval(scores, runs[baseline]))
        for baseline in baselines
        for method, scores in runs.items()
        if method != baseline
    ]
    return pd.DataFrame(rows, columns=list(OVERALL))


def samples_of(metric: str) -> int:
    """k of ``mean@k``; 0 for a metric that is no mean of at least two roll-outs, whose decoding variance cannot be read off its value."""
    found = re.fullmatch(r"mean@(\d+)", metric)
    return int(found[1]) if found and int(found[1]) > 1 else 0


def decoding_noise(shares: FloatArray, samples: int) -> FloatArray:
    """Unbiased variance of a share of right ones among ``samples`` roll-outs: k / (k - 1) p (1 - p) / k."""
    return shares * (1 - shares) / (samples - 1)


def variance_table(questions: pd.DataFrame, metric: str, arms: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Shares of the variance of a cell's mean by source, for each (method, baseline) of ``arms``; baseline "" is the method's own score.

    ``standard_error`` and ``detectable`` are for other questions and seeds, from the components. ValueError unless ``metric`` is mean@k.
    """
    samples = samples_of(metric)
    if not samples:
        raise ValueError(f"variance: metric {metric!r} is no mean@k of at least two roll-outs, so its decoding variance is not known")
    scored = questions[questions["metric"] == metric]
    noisy = scored.assign(value=decoding_noise(scored["value"].to_numpy(np.float64), samples))
    rows = [row for method, baseline in arms for row in _variance_rows(scored, noisy, metric, method, baseline)]
    return pd.DataFrame([{**row, "samples": samples} for row in rows], columns=list(VARIANCE))


def _variance_rows(scored: pd.DataFrame, noisy: pd.DataFrame, metric: str, method: str, baseline: str) -> list[dict[str, object]]:
    """Decoding noise of two arms is independent, so it adds up: the baseline's enters ``contrasts_from`` negated."""
    added = noisy.assign(value=noisy["value"].where(noisy["method"] != baseline, -noisy["value"]))
    rows = []
    for means, noise in zip(contrasts_from(scored, metric, method, baseline), contrasts_from(added, metric, method, baseline), strict=True):
        parts = from_cells(means.differences, noise.differences)
        error = parts.standard_error()
        shares = dict.fromkeys(("question", "seed", "interaction", "decoding"), float("nan")) | parts.shares()
        names = {"model": means.model, "benchmark": means.benchmark, "method": method, "baseline": baseline}
        counts = {"n": parts.questions, "seeds": parts.seeds}
        ends = {"mean": means.differences.mean(), "standard_error": error, "detectable": power.detectable(error)}
        rows.append({**names, **ends, **shares, **counts})
    return rows
