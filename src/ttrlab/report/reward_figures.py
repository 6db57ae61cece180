"""Figures of the training rewards: which errors they made, and where a judge's cascade ended; None where nothing is to draw."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ttrlab.report.figures import colours
from ttrlab.rewards.truer import ENDS

ERRORS = {"fp": "wrong but rewarded", "fn": "right but not rewarded"}
LABELLED = ("accepted_rank1", "accepted_rank2")
"""Ends of the cascade that give a label; all others abstain."""


def reward_errors(audit: pd.DataFrame, methods: Sequence[str]) -> Figure | None:
    """Per cent of the trained roll-outs of a step whose reward is wrong, by kind; line: mean over models and seeds, band: their range.

    ``audit``: audit.csv. Roll-outs whose correctness is undecided are in no denominator.
    """
    steps = audit[audit["window"] == "step"] if len(audit) else audit
    if not len(steps):
        return None
    decided = steps[["tp", "fp", "tn", "fn"]].sum(axis=1)
    keys = ["model", "benchmark", "method", "seed"]
    shares = pd.concat(
        steps[keys].assign(step=steps["first_step"], error=told, share=100 * steps[name] / decided.where(decided > 0))
        for name, told in ERRORS.items()
    )
    shown = [method for method in methods if method in set(shares["method"])]
    grid = sns.relplot(
        data=shares, x="step", y="share", hue="method", hue_order=shown, col="error", row="benchmark", kind="line",
        errorbar=("pi", 100), palette=colours(methods), height=2.7, aspect=1.4, facet_kws={"margin_titles": True},
    )  # fmt: skip
    grid.set_titles(col_template="{col_name}", row_template="{row_name}").set_axis_labels("step", "% of trained roll-outs")
    visits, runs = int(steps["groups"].max()), len(steps[["model", "seed"]].drop_duplicates())
    told = f"Errors of the training rewards; up to n = {visits} questions a step; mean of {runs} runs (models x seeds), band: their range"
    grid.figure.suptitle(told, y=1.03, fontsize=10)
    return grid.figure


def decision_flow(steps: pd.DataFrame) -> Figure | None:
    """Where the cascade of each judged method ended, in per cent of a step's questions, mean over seeds; hatched: it abstained.

    ``steps``: steps.csv. None where no method asks a judge.
    """
    columns = [f"rule/{end}" for end in ENDS]
    if not set(columns) <= set(steps.columns):
        return None
    judged = steps.dropna(subset=columns)
    ends = [end for end in (*LABELLED, *(end for end in ENDS if end not in LABELLED)) if judged[f"rule/{end}"].any()]
    panels = list(judged.groupby(["model", "benchmark", "method"], sort=False))
    if not panels:
        return None
    palette = dict(zip(ends, sns.color_palette("colorblind", len(ends)), strict=True))
    figure, grid = plt.subplots(1, len(panels), figsize=(3.1 * len(panels) + 1.6, 3.1), layout="constrained", squeeze=False, sharey=True)
    for ((_, benchmark, method), panel), axes in zip(panels, grid.flat, strict=True):
        means = 100 * panel.groupby("step")[[f"rule/{end}" for end in ends]].mean()
        bottom = pd.Series(0.0, index=means.index)
        for end in ends:
            heights = means[f"rule/{end}"]
            hatch = "" if end in LABELLED else "////"
            axes.bar(means.index, heights, 1.0, bottom=bottom, color=palette[end], hatch=hatch, edgecolor="white", linewidth=0, label=end)
            bottom += heights
        told = f"{method}, {benchmark}\nn = {int(panel['questions'].max())} a step, {panel['seed'].nunique()} seeds"
        axes.set_title(told, fontsize=9)
        axes.set(xlabel="step", ylim=(0, 100))
    grid[0, 0].set_ylabel("% of the questions of a step")
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, [name.replace("_", " ") for name in names], loc="outside right upper", frameon=False, fontsize=8)
    figure.suptitle("Where the cascade ended; mean over seeds; hatched: no label", fontsize=10)
    return figure
