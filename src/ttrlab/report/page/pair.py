"""What the view of one model on one benchmark shows: curves, the audit over training, groups of questions. Tables in, plain data out."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

AUDITED = ("label_accuracy", "reward_accuracy", "precision", "recall", "coverage", "active_share", "mean_reward")
"""Columns of the audit that are drawn over training; all are shares."""

Series = dict[str, list[list[float]]]
"""Method -> points [step, mean over seeds, least, greatest]."""


def of_pair(table: pd.DataFrame, model: str, benchmark: str) -> pd.DataFrame:
    """The rows of one model on one benchmark."""
    return table[(table["model"] == model) & (table["benchmark"] == benchmark)]


def series(rows: pd.DataFrame, step: str, value: str) -> Series:
    """Mean and range over seeds of ``value`` at each ``step``, by method; missing values are left out."""
    there = rows.dropna(subset=[value])
    found = there.groupby(["method", step], sort=False)[value].agg(["mean", "min", "max"]).reset_index().sort_values(step, kind="stable")
    points: Series = {}
    for method, at, mean, low, high in found.itertuples(index=False):
        points.setdefault(str(method), []).append([int(at), float(mean), float(low), float(high)])
    return points


def curves(summary: pd.DataFrame, metrics: Sequence[str]) -> dict[str, Series]:
    """Metric -> its learning curves; base is the point at step 0 that every curve starts from."""
    whole = summary[summary["group"] == "all"]
    drawn = {metric: series(whole[whole["metric"] == metric], "step", "value") for metric in metrics}
    for lines in drawn.values():
        start = [point for point in lines["base"] if point[0] == 0] if "base" in lines else []
        for method in lines:
            if method != "base":
                lines[method] = [*start, *(point for point in lines[method] if point[0] != 0)]
    return drawn


def groups(summary: pd.DataFrame, metric: str) -> list[dict[str, Any]]:
    """The endpoint by group of questions (``regime=contested``, ...): mean over seeds, n."""
    chosen = summary[summary["endpoint"] & (summary["metric"] == metric)]
    found = chosen.groupby(["group", "method"], sort=False).agg(value=("value", "mean"), n=("n", "first")).reset_index()
    return [{str(name): value for name, value in row.items()} for row in found.to_dict("records")]


def audit_curves(audit: pd.DataFrame) -> dict[str, Series]:
    """Column of the audit -> its course over training steps, for the columns that say anything."""
    steps = audit[audit["window"] == "step"] if len(audit) else audit
    drawn = {name: series(steps, "last_step", name) for name in AUDITED if name in steps}
    return {name: lines for name, lines in drawn.items() if lines}


def audit_whole(audit: pd.DataFrame) -> list[dict[str, Any]]:
    """The audit of the whole run by method, mean over seeds: shares, and false positives among the rewarded."""
    if not len(audit):
        return []
    whole = audit[audit["window"] == "whole run"]
    found = whole.groupby("method", sort=False)[[*AUDITED, "majority_label_accuracy", "rollouts", "seed"]]
    table = found.agg({**dict.fromkeys((*AUDITED, "majority_label_accuracy", "rollouts"), "mean"), "seed": "nunique"})
    renamed = table.reset_index().rename(columns={"seed": "seeds"})
    return [{str(name): value for name, value in row.items()} for row in renamed.to_dict("records")]
