"""Figures of short studies: what training drew, step by step."""

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ttrlab.report.figures import colours

CURVES = {"right": "right roll-outs", "label_accuracy": "right labels"}
"""Column -> what a line of the figure shows."""


def training_curves(audit: pd.DataFrame) -> Figure:
    """Share of right roll-outs and of right labels among a step's groups: one column a benchmark, one line a method, band: range of seeds.

    ``audit``: the rows of single steps. Equal steps of one seed draw from the same questions, so lines of one panel are comparable.
    """
    steps = audit.assign(right=(audit["tp"] + audit["fn"]) / audit["rollouts"], step=audit["last_step"])
    long = steps.melt(id_vars=["benchmark", "method", "seed", "step"], value_vars=list(CURVES), var_name="what", value_name="share")
    data = long.assign(percent=100 * long["share"], what=long["what"].map(CURVES))
    grid = sns.relplot(
        data=data, x="step", y="percent", hue="method", col="benchmark", row="what", kind="line", errorbar=("pi", 100), marker="o",
        palette=colours(audit["method"]), height=2.6, aspect=1.35, facet_kws={"margin_titles": True},
    )  # fmt: skip
    grid.set_axis_labels("step", "%")
    grid.set_titles(row_template="{row_name}", col_template="{col_name}")
    seeds, groups = data["seed"].nunique(), int(audit["groups"].median())
    grid.figure.suptitle(f"During training, {groups} questions a step; mean over {seeds} seeds, band: their range", y=1.03, fontsize=10)
    return grid.figure
