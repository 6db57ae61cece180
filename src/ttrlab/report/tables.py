"""Tables from the tidy scores: means over seeds, differences from base, written as CSV, Markdown and LaTeX."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ttrlab.files import write_text
from ttrlab.report.latex import latex

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
    """A Markdown table with its caption above; a bar or a line break in a cell stays in its cell."""
    head = "| " + " | ".join(map(str, table.columns)) + " |"
    rule = "|" + "---|" * len(table.columns)
    body = ["| " + " | ".join("" if pd.isna(cell) else _inline(str(cell)) for cell in row) + " |" for row in table.to_numpy(dtype=object)]
    return "\n".join([caption, "", head, rule, *body, ""])


def _inline(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split("\n"))


def write(stem: Path, table: pd.DataFrame, caption: str, shown: pd.DataFrame | None = None) -> None:
    """``stem``.csv of ``table``, ``stem``.md and ``stem``.tex of ``shown``, which is the same table as a person reads it."""
    readable = table if shown is None else shown
    write_text(stem.with_suffix(".csv"), table.to_csv(index=False))
    write_text(stem.with_suffix(".md"), markdown(readable, caption))
    write_text(stem.with_suffix(".tex"), latex(readable, caption, stem.name))


def read_all(paths: Iterable[Path]) -> pd.DataFrame:
    """The tables that are there and not empty, below each other."""
    tables = [pd.read_csv(path, dtype={"question_id": str}) for path in paths if path.exists() and path.read_text(encoding="utf-8").strip()]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
