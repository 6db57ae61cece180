"""IQM, probability of improvement and variance by source, as a person reads them."""

import pandas as pd

OVERALL_CAPTION = (
    "{} over all cells of the study: interquartile mean, and probability that a run of a method beats one of the baseline on a cell; "
    "95 % intervals, runs resampled within cells, questions as they are: with few seeds too short"
)
VARIANCE_CAPTION = (
    "Where the variance of a cell's {} comes from, shares in per cent: questions, seeds, their interaction, decoding; standard error and "
    "smallest detectable difference (80 % power) in points, for other questions and seeds"
)
NO_SAMPLES = (
    "No metric of this study is a mean over several roll-outs, so decoding cannot be told from the interaction of question and seed"
)
SOURCES = ("question", "seed", "interaction", "decoding")


def _name(method: str, baseline: str) -> str:
    return f"{method} - {baseline}" if baseline else method


def overall_rows(table: pd.DataFrame) -> pd.DataFrame:
    """overall.csv in per cent."""
    rows = [
        {
            "measure": f"{row.measure} over {row.baseline}" if row.baseline else row.measure,
            "method": row.method,
            "%": f"{100 * row.value:.1f}",
            "95 % interval": f"{100 * row.low:.1f} to {100 * row.high:.1f}",
            "cells": row.cells,
            "seeds": row.seeds,
        }
        for _, row in table.iterrows()
    ]
    return pd.DataFrame(rows)


def variance_rows(table: pd.DataFrame) -> pd.DataFrame:
    """variance.csv in per cent and points; a source that one seed cannot show is empty."""
    rows = [
        {
            "model": row.model,
            "benchmark": row.benchmark,
            "score": _name(row.method, row.baseline),
            "points": f"{100 * row['mean']:.1f}",
            **{source: "" if pd.isna(row[source]) else f"{100 * row[source]:.0f}" for source in SOURCES},
            "standard error": f"{100 * row.standard_error:.1f}",
            "detectable": f"{100 * row.detectable:.1f}" if row.baseline else "",
            "n": row.n,
            "seeds": row.seeds,
        }
        for _, row in table.iterrows()
    ]
    return pd.DataFrame(rows)
