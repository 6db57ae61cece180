"""Figures of what the base model's roll-outs say before any training; None where there is nothing to draw."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

from ttrlab.evaluate.bootstrap import percentile, resample_weights, resampled_means
from ttrlab.evaluate.regimes import agreement, operative_line, region_of
from ttrlab.report.figures import colours

REGIMES = ("saturated", "contested", "floor")


def mean_interval(values: pd.Series, name: str) -> tuple[float, float, float]:
    """Mean of values by question with its 95 % bootstrap interval over questions; ``name`` makes the draws, one benchmark one name."""
    scores = values.to_numpy(dtype=np.float64)
    ends = percentile(np.array([scores.mean()]), resampled_means(scores[None], resample_weights(scores.size, name=name)))
    return float(ends.estimate[0]), float(ends.low[0]), float(ends.high[0])


def recovery_region(questions: pd.DataFrame) -> Figure | None:
    """Questions whose wrong rival is larger, by size disadvantage and coherence advantage, and what Propositions 2 and 3 predict."""
    region = region_of(questions)
    drawn = region.dropna(subset=["advantage"])
    if not len(drawn):
        return None
    figure, axes = plt.subplots(figsize=(8.4, 4.4), layout="constrained")
    outcome = drawn["recovered"].map({True: "recovered", False: "not recovered"})
    markers = {"recovered": "o", "not recovered": "X"}
    palette = dict(zip(markers, sns.color_palette("colorblind", 2), strict=True))
    sns.scatterplot(
        x=drawn["disadvantage"], y=drawn["advantage"], hue=outcome, style=outcome, hue_order=list(markers), style_order=list(markers),
        markers=markers, palette=palette, s=42, ax=axes,
    )  # fmt: skip
    gap, line = float(region["gap"].mean()), np.geomspace(1, 1.1 * float(drawn["disadvantage"].max()), 60)
    axes.plot(line, line, "--", color="0.35", linewidth=1.2, label="Proposition 2: c*/c_w = m/n*")
    axes.plot(line, operative_line(line, gap), "-", color="0.35", linewidth=1.2, label=f"Proposition 3, mean gap {gap:+.2f} nats")
    axes.set(xscale="log", xlabel="size disadvantage m/n*", ylabel="coherence advantage c*/c_w", ylim=(0, 1.15 * drawn["advantage"].max()))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    second, third = (agreement(region, name)["agreement"] for name in ("predicted_graph", "predicted_calibrated"))
    lone = len(region) - len(drawn)
    axes.set_title(
        f"Recovery region: n = {len(region)} questions with a larger wrong rival ({lone} with one right roll-out not drawn)\n"
        f"outcome as predicted by Proposition 2: {second:.0%}, by Proposition 3: {third:.0%}",
        fontsize=9,
    )
    sns.despine(figure)
    return figure


def operating_regimes(questions: pd.DataFrame, scores: pd.DataFrame, methods: Sequence[str]) -> Figure | None:
    """How many questions each regime has, and each method's gain over base in it, 95 % intervals over questions.

    ``questions``: of the base model, one row a (model, benchmark, question). ``scores``: the main metric by question and seed.
    """
    if not len(questions):
        return None
    keys = ["model", "benchmark", "question_id"]
    wide = scores.pivot_table(index=keys, columns="method", values="value", sort=False).reset_index()
    joined = questions[[*keys, "regime"]].merge(wide, on=keys, how="inner")
    models = len(questions.drop_duplicates(["model", "benchmark"]))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, max(3.4, 0.3 * models + 1.2)), layout="constrained", width_ratios=(1, 1.4))
    _regime_shares(left, questions)
    _regime_gains(right, joined, [method for method in methods if method != "base" and {method, "base"} <= set(joined)], methods)
    sns.despine(figure)
    return figure


def _regime_shares(axes: Axes, questions: pd.DataFrame) -> None:
    table = questions.groupby(["model", "benchmark"], sort=False)["regime"].value_counts().unstack(fill_value=0)
    table = table.reindex(columns=list(REGIMES), fill_value=0)
    totals, left = table.sum(axis=1).to_numpy(), np.zeros(len(table))
    for regime, colour in zip(REGIMES, sns.color_palette("colorblind", 3), strict=True):
        width = 100 * table[regime].to_numpy() / totals
        axes.barh(range(len(table)), width, left=left, color=colour, label=regime)
        left += width
    names = [f"{model}, {benchmark} (n = {n})" for (model, benchmark), n in zip(table.index, totals, strict=True)]
    axes.set_yticks(range(len(table)), names)
    axes.invert_yaxis()
    axes.set(xlabel="questions (%)")
    axes.set_title("Regimes of the model as given", fontsize=10)
    axes.figure.legend(*axes.get_legend_handles_labels(), ncols=3, frameon=False, loc="outside lower left", fontsize=8)


def _regime_gains(axes: Axes, joined: pd.DataFrame, compared: Sequence[str], methods: Sequence[str]) -> None:
    palette, counts = colours(methods), joined["regime"].value_counts()
    for at, regime in enumerate(REGIMES):
        here = joined[joined["regime"] == regime]
        for place, method in enumerate(compared if len(here) > 1 else ()):
            mean, low, high = (100 * end for end in mean_interval((here[method] - here["base"]).dropna(), regime))
            where = at + 0.7 * ((place + 0.5) / len(compared) - 0.5)
            axes.plot([where, where], [low, high], color=palette[method], linewidth=1.6)
            axes.plot([where], [mean], "o", color=palette[method], markersize=5)
    axes.set_xticks(range(len(REGIMES)), [f"{regime}\nn = {int(counts.get(regime, 0))}" for regime in REGIMES])
    axes.axhline(0, color="0.6", linewidth=0.8, linestyle=":")
    axes.set(ylabel="gain over base (points)")
    axes.set_title("Gain by regime, all cells; 95 % interval over questions, seeds averaged", fontsize=10)
    handles = [Line2D([], [], marker="o", color=palette[method], label=method) for method in compared]
    axes.legend(handles=handles, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def label_accuracy(votes: pd.DataFrame, methods: Sequence[str]) -> Figure | None:
    """Share of right labels against the number of votes, one panel a benchmark (rows: models), band: 95 % over questions."""
    if not len(votes) or votes["votes"].nunique() < 2:
        return None
    rows = []
    for (model, benchmark, method, count), part in votes.groupby(["model", "benchmark", "method", "votes"], sort=False):
        mean, low, high = mean_interval(part["right"], f"votes/{benchmark}")
        rows.append([model, benchmark, method, count, 100 * mean, 100 * low, 100 * high, len(part)])
    table = pd.DataFrame(rows, columns=["model", "benchmark", "method", "votes", "mean", "low", "high", "n"])
    palette, ticks = colours(methods), sorted(table["votes"].unique())
    grid = sns.FacetGrid(table, row="model", col="benchmark", height=2.9, aspect=1.3, margin_titles=True, sharey=False)
    for (model, benchmark), axes in grid.axes_dict.items():
        panel = table[(table["model"] == model) & (table["benchmark"] == benchmark)]
        for method, line in panel.groupby("method", sort=False):
            axes.plot(line["votes"], line["mean"], "o-", color=palette[str(method)], markersize=4)
            axes.fill_between(line["votes"], line["low"], line["high"], color=palette[str(method)], alpha=0.15, linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(count) for count in ticks])
        if len(panel):
            axes.text(0.98, 0.03, f"n = {panel['n'].iloc[0]}", transform=axes.transAxes, ha="right", fontsize=8, color="0.35")
    grid.set_axis_labels("votes N", "right labels (%)")
    shown = [method for method in palette if method in set(table["method"])]
    grid.add_legend({method: Line2D([], [], marker="o", color=palette[method]) for method in shown})
    grid.figure.suptitle("Offline label accuracy against votes, base model's roll-outs; band: 95 % over questions", y=1.03, fontsize=10)
    return grid.figure
