"""Base and final scores with their intervals, and what the tests say, in tables and in sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ttrlab.report.tables import BASE, endpoint_means, markdown

ALPHA = 0.05
"""A difference counts as seen when its p-value, corrected by Holm over the study's contrasts of the metric, is at most this."""


def share(value: float, low: float, high: float, sign: str = "") -> str:
    """A score in % with its interval, as ``18.3 [10.8, 26.7]``; ``sign`` '+' for differences."""
    return f"{100 * value:{sign}.1f} [{100 * low:{sign}.1f}, {100 * high:{sign}.1f}]"


def endpoint_table(summary: pd.DataFrame, intervals: pd.DataFrame, contrasts: pd.DataFrame, metrics: Sequence[str]) -> str:
    """Scores of every method in %: the main metric with its interval and its difference from base, the other metrics as means over seeds.

    ``metrics``: the study's, the main one first. ``intervals``, ``contrasts``: of all metrics (``contrast_table``'s columns).
    """
    main, *others = metrics
    own = intervals[intervals["metric"] == main].sort_values("benchmark", kind="stable")
    from_base = _by_cell(contrasts[(contrasts["metric"] == main) & (contrasts["baseline"] == BASE)])
    means = {metric: _by_cell(endpoint_means(summary, metric)) for metric in others}
    rows = []
    for row in own.to_dict("records"):
        key = (row["model"], row["benchmark"], row["method"])
        difference = from_base.get(key)
        rows.append(
            {
                "benchmark": row["benchmark"],
                "method": row["method"],
                "seeds": row["seeds"],
                "n": row["n"],
                main: share(row["value"], row["population_low"], row["population_high"]),
                "from base": ""
                if difference is None
                else share(difference["difference"], difference["population_low"], difference["population_high"], "+"),
                **{metric: f"{100 * table[key]['mean']:.1f}" for metric, table in means.items()},
            }
        )
    caption = "Scores at the last checkpoint in %, with 95 % intervals over questions and seeds; from base: the same seeds of both."
    return markdown(pd.DataFrame(rows), caption)


def _by_cell(table: pd.DataFrame) -> dict[tuple[str, str, str], Mapping[Any, Any]]:
    return {(row["model"], row["benchmark"], row["method"]): row for row in table.to_dict("records")}


def told(contrasts: pd.DataFrame, metric: str) -> str:
    """One sentence a baseline and benchmark: which methods end above, which below, and which cannot be told apart from the baseline."""
    sentences = []
    for (baseline, benchmark), block in contrasts[contrasts["metric"] == metric].groupby(["baseline", "benchmark"], sort=False):
        seen = block[block["wilcoxon_p_holm"] <= ALPHA]
        groups = {
            "above it": seen[seen["difference"] > 0],
            "below it": seen[seen["difference"] < 0],
            "not told apart from it": block[block["wilcoxon_p_holm"] > ALPHA],
        }
        ends = [f"{', '.join(_with_points(rows))} {where}" for where, rows in groups.items() if len(rows)]
        sentences.append(f"- {benchmark}, against {baseline}: {'; '.join(ends)}.")
    return "\n".join(sentences) + "\n"


def _with_points(rows: pd.DataFrame) -> list[str]:
    return [f"{row['method']} ({100 * row['difference']:+.1f})" for row in rows.to_dict("records")]


def audit_table(audit: pd.DataFrame) -> str:
    """What the training rewards were worth over the whole run, in %, counts summed over seeds. ``audit``: ``rates`` of those sums."""
    rows = [
        {
            "benchmark": row["benchmark"],
            "method": row["method"],
            "seeds": row["seeds"],
            "visits": int(row["groups"]),
            **{name: _percent(row[column]) for name, column in AUDITED.items()},
            "labels changed": int(row["changed"]),
            "undecided": int(row["undecided"]),
        }
        for row in audit.to_dict("records")
    ]
    caption = (
        "Training rewards against gold, in % (joined afterwards; only the oracle's rule sees it). Label: pseudo-labels that are right; "
        "vote: labels of the plain vote on the same roll-outs; labels changed: visits whose label is not the vote's."
    )
    return markdown(pd.DataFrame(rows), caption)


AUDITED = {
    "label": "label_accuracy",
    "vote": "majority_label_accuracy",
    "reward": "reward_accuracy",
    "precision": "precision",
    "recall": "recall",
    "FPR": "fpr",
    "coverage": "coverage",
    "FP removed": "fp_removed",
    "TP kept": "tp_kept",
}
"""Column of the page -> column of the audit."""


def _percent(value: float) -> str:
    return "" if pd.isna(value) else f"{100 * value:.1f}"
