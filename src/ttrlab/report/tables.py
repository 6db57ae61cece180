"""Tables from the tidy scores: means over seeds, differences from base, ready for CSV and Markdown."""

from collections.abc import Sequence

import pandas as pd

BASE = "base"


def endpoint_means(summary: pd.DataFrame, metric: str, group: str = "all") -> pd.DataFrame:
    """One row a (model, benchmark, method): mean over seeds at the endpoint, their standard deviation, seeds and questions.

    ``summary``: the tidy scores of all cells. ``delta``: difference from the base model's mean, NaN where base was not run.
    """
    chosen = summary[(summary.metric == metric) & (summary.group == group) & summary.endpoint]
    keys = ["model", "benchmark", "method"]
    means = chosen.groupby(keys, sort=False).agg(
        mean=("value", "mean"), sd=("value", "std"), seeds=("seed", "nunique"), n=("n", "first"), undecided=("undecided", "sum")
    )
    rows = means.reset_index()
    base = rows[rows.method == BASE].set_index(["model", "benchmark"])["mean"].to_dict()
    rows["delta"] = [
        mean - base[(model, benchmark)] if (model, benchmark) in base else float("nan")
        for model, benchmark, mean in zip(rows.model, rows.benchmark, rows["mean"], strict=True)
    ]
    return rows.assign(metric=metric, group=group)


def wide(means: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Models x benchmarks in rows, methods in columns; a cell reads ``mean (delta)`` in percentage points."""
    text = means.assign(text=[_cell(row["mean"], row["delta"], row["method"]) for row in means.to_dict("records")])
    table = text.pivot(index=["model", "benchmark"], columns="method", values="text")
    return table[[method for method in methods if method in table.columns]].reset_index()


def _cell(mean: float, delta: float, method: str) -> str:
    shown = f"{100 * mean:.1f}"
    return shown if method == BASE or pd.isna(delta) else f"{shown} ({100 * delta:+.1f})"


def markdown(table: pd.DataFrame, caption: str) -> str:
    """A Markdown table with its caption above."""
    head = "| " + " | ".join(map(str, table.columns)) + " |"
    rule = "|" + "---|" * len(table.columns)
    body = ["| " + " | ".join("" if pd.isna(value) else str(value) for value in row) + " |" for row in table.itertuples(index=False)]
    return "\n".join([caption, "", head, rule, *body, ""])
