"""Paper against measured, and a paper's own summary of its grid, as a person reads them."""

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from ttrlab.config.evidence import Evidence
from ttrlab.evaluate.paper import NOT_GIVEN

VERDICTS = ("reproduced", "unresolved", "contradicted", "not run")

COLUMNS = ("paper", "where", "model", "benchmark", "method", "metric", "window", "value", "unit", "measured", "low", "high", "n", "seeds",
           "cells", "verdict", "reason", "note")  # fmt: skip
"""Columns of paper.csv: ``value`` as printed, ``measured`` ours with its 95 % interval, ``n`` questions (settings for their tests)."""


def tidy(compared: pd.DataFrame) -> pd.DataFrame:
    """The columns of paper.csv from the joined table; counts as whole numbers."""
    counts = {name: compared[name].astype("Int64") for name in ("n", "seeds", "cells")}
    rounded = {name: compared[name].round(6) for name in ("measured", "low", "high")}
    return compared.assign(**counts, **rounded)[list(COLUMNS)]


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """paper.csv for reading; what the paper does not give and nobody ran says nothing and is left out."""
    said = table[(table["value"] != NOT_GIVEN) | (table["verdict"] != "not run")]
    rows = [
        {
            "paper, where": f"{row.paper}, {row['where']}",
            "model": row.model,
            "benchmark": row.benchmark,
            "method": row.method,
            "metric": f"{row.metric} ({row.window})" if row.window else row.metric,
            "paper": f"{row.value} {row.unit}".strip() if row.value != NOT_GIVEN else NOT_GIVEN,
            "ours": _number(row.measured),
            "95 % interval": "" if pd.isna(row.low) else f"{_number(row.low)} to {_number(row.high)}",
            "n": "" if pd.isna(row.n) else str(row.n),
            "seeds": "" if pd.isna(row.seeds) else str(row.seeds),
            "verdict": row.verdict,
            "why": "" if row.verdict == "not run" else row.reason,
        }
        for _, row in said.iterrows()
    ]
    return pd.DataFrame(rows)


def caption(table: pd.DataFrame, evidence: Evidence, changed: Mapping[str, str]) -> str:
    """How many verdicts of each kind, by which rule, and whether the rule stood before the first run."""
    counts = Counter(table["verdict"])
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    silent = int(((table["value"] == NOT_GIVEN) & (table["verdict"] == "not run")).sum())
    rule = ", ".join(f"{name} {value:g}" for name, value in evidence.verdict.model_dump().items())
    since = "; ".join(f"{name}: {how}" for name, how in changed.items())
    fixed = f"CHANGED after the first run began: {since}" if changed else "fixed before the first run"
    left = f"; {silent} of them neither given nor run, left out here" if silent else ""
    return f"Paper against measured: {said}{left}. Rule ({fixed}): {rule}. Intervals: questions and seeds resampled, 95 %."


def family_rows(table: pd.DataFrame) -> pd.DataFrame:
    """families.csv in percentage points."""
    rows = [
        {
            "models": row.models,
            "benchmarks": row.benchmarks,
            "contrast": f"{row.method} - {row.baseline}",
            "points": f"{100 * row.difference:+.1f}",
            "questions like these": f"{100 * row.low:+.1f} to {100 * row.high:+.1f}",
            "detectable": f"{100 * row.detectable:.1f}",
            "cells": row.cells,
            "won": row.won,
            "tied": row.tied,
            "sign p": f"{row.sign_p:.2g}",
            "Wilcoxon p": f"{row.wilcoxon_p:.2g}",
            "seeds": row.seeds,
        }
        for _, row in table.iterrows()
    ]
    return pd.DataFrame(rows)


def _number(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.3g}" if abs(value) < 0.1 else f"{value:.2f}"
