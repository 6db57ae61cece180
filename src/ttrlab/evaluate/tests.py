"""Tests of paired differences, their correction over a family, and effect sizes. scipy does the tests."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ttrlab.types import FloatArray

_ZERO = 1e-12


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A two-sided test: ``n`` pairs that differ, ``zeros`` pairs that do not and are left out, ``wins`` positive differences."""

    name: str
    statistic: float
    p: float
    n: int
    zeros: int
    wins: int


def _differing(differences: FloatArray) -> tuple[FloatArray, int]:
    if differences.ndim != 1 or not np.isfinite(differences).all():
        raise ValueError(f"differences must be finite and one-dimensional, got shape {differences.shape}")
    kept = differences[np.abs(differences) > _ZERO]
    return kept, differences.size - kept.size


def sign_test(differences: FloatArray) -> PairedTest:
    """Exact two-sided sign test; McNemar's exact test where the differences are of 0/1 scores. No differing pair: p = 1."""
    kept, zeros = _differing(differences)
    wins = int((kept > 0).sum())
    p = float(stats.binomtest(wins, kept.size).pvalue) if kept.size else 1.0
    return PairedTest("sign", float(wins), p, kept.size, zeros, wins)


def wilcoxon_test(differences: FloatArray) -> PairedTest:
    """Two-sided Wilcoxon signed-rank test, exact where scipy can. No differing pair: p = 1."""
    kept, zeros = _differing(differences)
    if kept.size == 0:
        return PairedTest("wilcoxon", 0.0, 1.0, 0, zeros, 0)
    result = stats.wilcoxon(np.round(kept, 12))
    return PairedTest("wilcoxon", float(result.statistic), float(result.pvalue), kept.size, zeros, int((kept > 0).sum()))


def holm(p: Sequence[float] | FloatArray) -> FloatArray:
    """Holm's step-down adjusted p-values of a family, in the given order: running maximum of (m - rank) p, at most 1 (Holm 1979)."""
    values = np.asarray(p, dtype=np.float64)
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p-values must lie in [0, 1], got {values.tolist()}")
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate((values.size - np.arange(values.size)) * values[order])
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def cohens_dz(differences: FloatArray) -> float:
    """Mean over standard deviation (ddof 1) of the paired differences; NaN where they do not vary."""
    spread = differences.std(ddof=1) if differences.size > 1 else 0.0
    return float(differences.mean() / spread) if spread > _ZERO else float("nan")


def rank_biserial(differences: FloatArray) -> float:
    """Matched-pairs rank-biserial correlation: (rank sum of gains - rank sum of losses) / total, zeros left out; NaN without a pair."""
    kept, _ = _differing(differences)
    if kept.size == 0:
        return float("nan")
    ranks = stats.rankdata(np.round(np.abs(kept), 12))
    return float((ranks * np.sign(kept)).sum() / ranks.sum())
