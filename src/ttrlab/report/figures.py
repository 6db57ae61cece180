"""Figures from tidy tables (seaborn), each as PNG and SVG with the same bytes for the same data."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "ttrlab"

import seaborn as sns  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from ttrlab.files import atomic  # noqa: E402

PALETTE = "colorblind"


def colours(methods: Iterable[str]) -> dict[str, tuple[float, float, float]]:
    """Method -> colour, the same in every figure of a study; ``methods`` in the order of the study."""
    names = list(dict.fromkeys(methods))
    return dict(zip(names, sns.color_palette(PALETTE, len(names)), strict=True))


def save(figure: Figure, stem: Path) -> None:
    """Write ``stem``.png and ``stem``.svg without dates, so that equal figures are equal files."""
    for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        with atomic(stem.with_suffix(f".{kind}")) as handle:
            figure.savefig(handle, format=kind, dpi=150, bbox_inches="tight", metadata=metadata)
    plt.close(figure)


def learning_curves(summary: pd.DataFrame, metric: str) -> Figure:
    """``metric`` over steps: one panel a benchmark (rows: models), one line a method, band = range over seeds; base is the level at 0."""
    chosen = summary[(summary.metric == metric) & (summary.group == "all")].assign(percent=lambda t: 100 * t.value)
    base, rest = chosen[chosen.method == "base"], chosen[chosen.method != "base"]
    starts = [base.assign(method=method) for method in rest.method.unique()]
    data = pd.concat([rest, *starts], ignore_index=True) if len(rest) else base
    palette = colours(summary.method)
    shown = [name for name in palette if name in set(data.method)]
    grid = sns.relplot(
        data=data, x="step", y="percent", hue="method", col="benchmark", row="model", kind="line", errorbar=("pi", 100), marker="o",
        palette=palette, hue_order=shown, height=3, aspect=1.25, facet_kws={"margin_titles": True},
    )  # fmt: skip
    grid.set_axis_labels("step", f"{metric} (%)")
    counts = ", ".join(f"{benchmark} {n}" for benchmark, n in chosen.groupby("benchmark", sort=False).n.first().items())
    grid.figure.suptitle(f"{metric} during adaptation; n = {counts}; band: range over {data.seed.nunique()} seeds", y=1.03)
    return grid.figure


def endpoints(summary: pd.DataFrame, metric: str) -> Figure:
    """``metric`` at the endpoint: one dot a seed, a bar at their mean, by group of questions."""
    chosen = summary[(summary.metric == metric) & summary.endpoint].assign(percent=lambda t: 100 * t.value)
    questions = chosen[chosen.group == "all"].groupby("benchmark").n.first()
    named = chosen.assign(benchmark=[f"{b} (n = {questions[b]})" for b in chosen.benchmark])
    grid = sns.catplot(
        data=named, x="percent", y="group", hue="method", col="benchmark", row="model", kind="strip", dodge=True, jitter=False,
        palette=colours(summary.method),
        height=3, aspect=1.4, sharey=False, margin_titles=True,
    )  # fmt: skip
    grid.set_axis_labels(f"{metric} at the last checkpoint (%)", "questions")
    grid.figure.suptitle(f"{metric} at the endpoint, one dot a seed", y=1.03)
    return grid.figure


def reward_audit(audit: pd.DataFrame, methods: Iterable[str]) -> Figure:
    """Label accuracy and reward accuracy over training, as gold sees them afterwards; colours by the study's ``methods``."""
    steps = audit[audit.window == "step"].rename(columns={"last_step": "step"})
    long = steps.melt(
        id_vars=["model", "benchmark", "method", "seed", "step"],
        value_vars=["label_accuracy", "reward_accuracy"],
        var_name="audit",
        value_name="share",
    )
    grid = sns.relplot(
        data=long, x="step", y="share", hue="method", style="audit", col="benchmark", row="model", kind="line", errorbar=("pi", 100),
        palette=colours(methods), hue_order=list(dict.fromkeys(audit.method)), height=3, aspect=1.25, facet_kws={"margin_titles": True},
    )  # fmt: skip
    grid.set_axis_labels("step", "share right")
    questions, seeds = int(steps["groups"].max()), long.seed.nunique()
    grid.figure.suptitle(f"What the rewards were worth; up to n = {questions} questions a step; band: range over {seeds} seeds", y=1.03)
    return grid.figure
