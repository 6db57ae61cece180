"""Figures of what training bought: steps saved, sizes chosen, where questions went, cost against gain; None where nothing is to draw."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from ttrlab.report.figures import colours
from ttrlab.report.offline_figures import mean_interval

SIZE = "rule/subgroup_size"
"""Column of the step records with SCOPE's choice."""

BINS = ("0", "to 25", "to 50", "to 75", "below 100", "100")
"""Per cent of a question's roll-outs that are right: none, up to each quarter, all."""

_SHAPES = "osD^vP*X<>"


def sample_efficiency(table: pd.DataFrame, methods: Sequence[str]) -> Figure | None:
    """Fewer steps to the vote's plateau in per cent, one row a model and benchmark, with the interval over questions and seeds.

    A method that does not arrive stands at the left edge as an arrow. None where no cell has a plateau above its start.
    """
    known = table.dropna(subset=["fewer"]) if len(table) else table
    if not len(known):
        return None
    palette = colours(methods)
    shown = [method for method in palette if method in set(known["method"])]
    cells = list(dict.fromkeys(zip(known["model"], known["benchmark"], strict=True)))
    ends = known[["fewer", "low", "high"]].to_numpy(dtype=np.float64)
    edge = 100 * min(-0.25, float(ends[np.isfinite(ends)].min(initial=0)) - 0.1)
    figure, axes = plt.subplots(figsize=(7.5, 1.3 + 0.22 * len(cells) * max(2, len(shown))), layout="constrained")
    names: dict[int, str] = {}
    for row in known.to_dict("records"):
        place = cells.index((row["model"], row["benchmark"]))
        names[place] = f"{row['model']}, {row['benchmark']}\nn = {row['n']}, seeds = {row['seeds']}"
        at = place + 0.7 * ((shown.index(row["method"]) + 0.5) / len(shown) - 0.5)
        low, value, high = (edge if np.isneginf(row[name]) else 100 * row[name] for name in ("low", "fewer", "high"))
        axes.plot([low, high], [at, at], color=palette[row["method"]], linewidth=1.6)
        axes.plot([value], [at], "<" if np.isneginf(row["fewer"]) else "o", color=palette[row["method"]], markersize=5)
    axes.axvline(0, color="0.6", linewidth=0.8, linestyle=":")
    axes.set(xlabel=f"fewer steps than {known['baseline'].iloc[0]} to its plateau (%)", xlim=(edge - 3, 103))
    axes.set_yticks(range(len(cells)), [names[place] for place in range(len(cells))])
    axes.invert_yaxis()
    handles = [Line2D([], [], marker="o", color=palette[method], label=method) for method in shown]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    axes.set_title("Sample efficiency; 95 % interval over questions and seeds; arrow: does not arrive", fontsize=10)
    sns.despine(figure)
    return figure


def chosen_sizes(steps: pd.DataFrame) -> Figure | None:
    """Subgroup size that SCOPE chose at each step; line: median over seeds, band: their range."""
    known = steps.dropna(subset=[SIZE]) if SIZE in steps else steps.iloc[:0]
    if not len(known):
        return None
    grid = sns.relplot(
        data=known, x="step", y=SIZE, hue="method", col="benchmark", row="model", kind="line", estimator="median", errorbar=("pi", 100),
        palette=colours(steps["method"]), hue_order=list(dict.fromkeys(known["method"])), height=2.9, aspect=1.3,
        facet_kws={"margin_titles": True},
    )  # fmt: skip
    for axes in grid.axes.flat:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter(ScalarFormatter())
    grid.set_axis_labels("step", "chosen subgroup size m")
    seeds, questions = known["seed"].nunique(), int(known["questions"].max())
    told = f"Size chosen by SCOPE, one choice a step of up to n = {questions} questions; median of {seeds} seeds, band: their range"
    grid.figure.suptitle(told, y=1.03, fontsize=10)
    return grid.figure


def bin_of(shares: pd.Series) -> pd.Series:
    """Place in ``BINS`` of each share of right roll-outs."""
    return pd.cut(shares, [-1.0, 0.0, 0.25, 0.5, 0.75, 1 - 1e-9, 1.0], labels=range(len(BINS))).astype(int)


def transitions(scores: pd.DataFrame, metric: str, methods: Sequence[str]) -> Figure | None:
    """Where the questions of the model as given went: per cent of all, by right roll-outs before (rows) and at the endpoint (columns).

    One panel a method and benchmark, models and seeds together. ``scores``: the main metric by question and seed; a metric of shares.
    Above each panel the share of questions that rose by a bin or more, that fell, and the difference with its interval over questions.
    """
    keys = ["model", "benchmark", "seed", "question_id"]
    base = scores[scores["method"] == "base"][[*keys, "value"]]
    moved = scores[scores["method"] != "base"].merge(base, on=keys, suffixes=("", "_base"))
    if not len(moved):
        return None
    moved = moved.assign(end=bin_of(moved["value"]), start=bin_of(moved["value_base"]))
    shown, places = [name for name in methods if name in set(moved["method"])], list(dict.fromkeys(moved["benchmark"]))
    figure, grid = plt.subplots(
        len(places), len(shown), figsize=(2.9 * len(shown) + 1, 2.8 * len(places) + 0.8), layout="constrained", squeeze=False
    )
    for (place, method), axes in zip([(place, method) for place in places for method in shown], grid.flat, strict=True):
        _moves(axes, moved[(moved["benchmark"] == place) & (moved["method"] == method)], f"{method}, {place}")
    figure.supxlabel(f"{metric} at the last checkpoint (%)", fontsize=9)
    figure.supylabel(f"{metric} of the model as given (%)", fontsize=9)
    figure.suptitle("Where the same questions move; per cent of questions; 95 % interval over questions", fontsize=10)
    return figure


def _moves(axes: Axes, panel: pd.DataFrame, name: str) -> None:
    counts = np.zeros((len(BINS), len(BINS)))
    np.add.at(counts, (panel["start"].to_numpy(), panel["end"].to_numpy()), 100 / max(len(panel), 1))
    text = np.where(counts > 0, np.char.mod("%.0f", counts), "")
    sns.heatmap(counts, annot=text, fmt="", cmap="Blues", vmin=0, cbar=False, xticklabels=BINS, yticklabels=BINS, ax=axes, square=True,
                linewidths=0.5, linecolor="0.9", annot_kws={"fontsize": 7})  # fmt: skip
    axes.tick_params(labelsize=6, rotation=0)
    axes.invert_yaxis()
    rise = (panel["end"] - panel["start"]).clip(-1, 1)
    if not len(panel):
        return
    net, low, high = (100 * end for end in mean_interval(rise.groupby(panel["question_id"], sort=False).mean(), name))
    up, down = (100 * float((rise == way).mean()) for way in (1, -1))
    told = f"{name}, n = {panel['question_id'].nunique()}\n+{up:.0f} -{down:.0f}: {net:+.0f} ({low:+.0f} to {high:+.0f})"
    axes.set_title(told, fontsize=8)


def cost_gain(costs: pd.DataFrame, contrasts: pd.DataFrame, metric: str, methods: Sequence[str]) -> Figure | None:
    """Gain over base against what an adaptation took, one point a cell; bar: 95 % interval over questions and seeds.

    ``costs``: one row a (model, benchmark, method) with ``hours`` and their ``unit``. ``contrasts``: contrasts.csv.
    """
    gains = contrasts[(contrasts["metric"] == metric) & (contrasts["baseline"] == "base")] if len(contrasts) else contrasts
    if not len(gains) or not len(costs):
        return None
    joined = gains.merge(costs, on=["model", "benchmark", "method"], how="inner")
    if not len(joined):
        return None
    palette, wide = colours(methods), min(3, joined["benchmark"].nunique())
    grid = sns.FacetGrid(joined, col="benchmark", col_wrap=wide, height=3.2, aspect=1.3, sharex=False)
    shapes = {model: _SHAPES[place % len(_SHAPES)] for place, model in enumerate(dict.fromkeys(joined["model"]))}
    for benchmark, axes in grid.axes_dict.items():
        panel = joined[joined["benchmark"] == benchmark]
        for row in panel.to_dict("records"):
            colour = palette[row["method"]]
            axes.vlines(row["hours"], 100 * row["population_low"], 100 * row["population_high"], color=colour, linewidth=1.2, alpha=0.7)
            axes.plot([row["hours"]], [100 * row["difference"]], shapes[row["model"]], color=colour, markersize=6)
        axes.axhline(0, color="0.6", linewidth=0.8, linestyle=":")
        axes.margins(x=0.15)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        told = f"n = {panel['n'].iloc[0]}, seeds = {panel['seeds'].min()}"
        axes.text(0.98, 0.03, told, transform=axes.transAxes, ha="right", fontsize=8, color="0.35")
    grid.set_axis_labels(f"{joined['unit'].iloc[0]} of one adaptation", f"gain in {metric} over base (points)")
    used = [method for method in palette if method in set(joined["method"])]
    entries = {method: Line2D([], [], marker="o", linestyle="", color=palette[method]) for method in used}
    if len(shapes) > 1:
        entries |= {model: Line2D([], [], marker=shape, linestyle="", color="0.4") for model, shape in shapes.items()}
    grid.add_legend(entries)
    grid.figure.suptitle("Cost against gain; costs: mean over seeds; bar: 95 % interval over questions and seeds", y=1.04, fontsize=10)
    return grid.figure
