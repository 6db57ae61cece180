"""The files of a finished replay: tables (CSV, Markdown), figures, the list of what was left out, a JSON summary."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ttrlab.files import write_json, write_jsonl, write_text
from ttrlab.replay.rows import Fault
from ttrlab.report import figures
from ttrlab.report.tables import markdown

SHOWN = {
    "coverage": "coverage",
    "active_share": "active",
    "label_accuracy": "label acc.",
    "majority_label_accuracy": "vote's label acc.",
    "reward_accuracy": "reward acc.",
    "precision": "precision",
    "recall": "recall",
    "fpr": "FPR",
    "tp_kept": "TP kept",
    "fp_removed": "FP removed",
}
"""Rates in the Markdown table, in %."""
COUNTED = {
    "advantage_correct": "advantage mass on right",
    "advantage_wrong": "on wrong",
    "minority_recovered": "minority recovered",
    "majority_lost": "majority lost",
    "majority_withheld": "withheld",
}
NAMED_FAULTS = 20
"""How many faults the summary names; ``malformed.jsonl`` has them all."""


def write_tables(out: Path, tables: Mapping[str, pd.DataFrame], caption: str) -> None:
    """Each table as CSV, and ``audit.md``: all questions first, then every other group of questions."""
    for name, table in tables.items():
        write_text(out / f"{name}.csv", table.to_csv(index=False))
    audit = tables["audit"]
    parts = [
        markdown(_shown(rows), f"**{group}**, {int(rows.groups.iloc[0])} groups") for group, rows in audit.groupby("group", sort=False)
    ]
    if "selection" in tables:
        chosen = tables["selection"]
        parts.append(markdown(chosen[chosen["group"] == "all"].drop(columns="group"), "**deployment selection**"))
    write_text(out / "audit.md", "\n".join([caption, "", *parts]))


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    percent = {title: [_percent(value) for value in rows[name]] for name, title in SHOWN.items() if name in rows.columns}
    counts = {title: [f"{value:g}" for value in rows[name].round(2)] for name, title in COUNTED.items() if name in rows.columns}
    return pd.DataFrame({"method": rows["method"].tolist(), **percent, **counts})


def _percent(share: float) -> str:
    return "n/a" if np.isnan(share) else f"{100 * share:.1f}"


def write_figures(out: Path, tables: Mapping[str, pd.DataFrame], gold: bool) -> None:
    """``audit``: rates by vote margin; ``agreement``: how often two rules give the same label. PNG and SVG."""
    figures.save(
        by_margin(tables["audit"], ["label_accuracy", "reward_accuracy", "coverage"] if gold else ["coverage", "active_share"]),
        out / "audit",
    )
    figures.save(agreement(tables["agreement"]), out / "agreement")


def by_margin(audit: pd.DataFrame, rates: Sequence[str]) -> Figure:
    """A panel a rate, a line a method: one dot a range of the vote margin, darker for clearer votes, orange for all questions."""
    chosen = audit[audit["group"].eq("all") | audit["group"].str.startswith("margin=")]
    groups = chosen.groupby("group", sort=False)["groups"].first()
    names = {group: f"{str(group).removeprefix('margin=')} (n = {int(count)})" for group, count in groups.items()}
    long = chosen.melt(id_vars=["method", "group"], value_vars=list(rates), var_name="rate", value_name="share")
    shades = dict(zip(names.values(), [(1.0, 0.5, 0.0), *sns.color_palette("Blues", len(names) - 1)], strict=True))
    grid = sns.catplot(
        data=long.assign(margin=long["group"].map(names)), x="share", y="method", hue="margin", col="rate", kind="strip", jitter=False,
        size=8, linewidth=0.5, palette=shades, height=1.6 + 0.28 * audit["method"].nunique(), aspect=0.9,
    )  # fmt: skip
    grid.set(xlim=(-0.03, 1.03))
    grid.set_titles("{col_name}")
    grid.set_axis_labels("share", "")
    grid.figure.suptitle("by vote margin: (largest - second class) / roll-outs", y=1.03)
    return grid.figure


def agreement(table: pd.DataFrame) -> Figure:
    """A heat map of the share of groups, labelled by both, on which two rules give the same label."""
    names = list(dict.fromkeys(table["method"]))
    square = table.pivot(index="method", columns="other", values="label_agreement").loc[names, names].astype(float)
    figure, axes = plt.subplots(figsize=(2.5 + 0.6 * len(names), 1.5 + 0.5 * len(names)))
    sns.heatmap(square, annot=True, fmt=".2f", vmin=0, vmax=1, cmap="viridis", ax=axes, cbar_kws={"label": "same label"})
    axes.set(xlabel="", ylabel="", title="same label, where both rules give one")
    return figure


def write_faults(out: Path, faults: Sequence[Fault]) -> None:
    """Every part of the pool that was left out: file, line, reason."""
    write_jsonl(out / "malformed.jsonl", ({"file": fault.path.name, "line": fault.line, "reason": fault.reason} for fault in faults))


def fault_summary(faults: Sequence[Fault]) -> dict[str, Any]:
    """How many parts were left out, and the first of them by name."""
    return {"count": len(faults), "first": [f"{fault.path.name}, line {fault.line}: {fault.reason}" for fault in faults[:NAMED_FAULTS]]}


def write_summary(out: Path, summary: Mapping[str, Any], audit: pd.DataFrame) -> None:
    """``summary.json``: what was replayed, and every number of the audit over all questions; a rate without denominator is null."""
    rows = audit[audit["group"] == "all"].drop(columns="group").set_index("method")
    numbers = {method: {name: None if np.isnan(value) else float(value) for name, value in row.items()} for method, row in rows.iterrows()}
    write_json(out / "summary.json", {**summary, "audit": numbers})
