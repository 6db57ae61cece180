"""Bootstrap intervals of paired differences, for questions and for seeds, many contrasts at once.

A resample is a row of weights over questions (how often each was drawn, divided by their number), so that B resampled means of C
contrasts are one matrix product. The weights are drawn once and shared: contrasts on the same questions see the same draws, which makes
them comparable and their average a valid pooled estimate.

Two intervals answer two questions. *These questions* resamples seeds: would other training runs on the same test set give the same sign?
*Questions like these* resamples questions as well: would other questions of this kind? Resampling 3 seeds can only understate their
spread; ``seed_t_interval`` is the small-sample alternative (docs/statistics.md gives both coverages).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special, stats

from ttrlab.seeds import rng
from ttrlab.types import FloatArray

RESAMPLES = 10_000
LEVEL = 0.95
_BLOCK = 128
"""Resamples drawn at a time, so that the counts stay in the cache; the draws do not depend on it."""
_DECIMALS = 12
"""Resampled means are rounded here, so that equal means are equal whatever order a matrix product sums in."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Estimates and intervals of C contrasts; ``estimate``, ``low``, ``high`` are (C,)."""

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    method: str


def resample_weights(units: int, resamples: int = RESAMPLES, seed: int = 0, name: str = "questions") -> FloatArray:
    """(B, units) bootstrap weights, each row summing to 1. ``name`` makes the stream: one benchmark, one name."""
    if units < 1 or resamples < 1:
        raise ValueError(f"units and resamples must be at least 1, got {units} and {resamples}")
    generator, weights = rng(seed, "bootstrap", name, units), np.empty((resamples, units))
    for start in range(0, resamples, _BLOCK):
        block = weights[start : start + _BLOCK]
        rows = np.arange(len(block))[:, None]
        drawn = generator.integers(0, units, block.shape) + units * rows
        np.divide(np.bincount(drawn.ravel(), minlength=block.size).reshape(block.shape), units, out=block)
    return weights


def resampled_means(differences: FloatArray, weights: FloatArray) -> FloatArray:
    """(B, C) means of (C, Q) per-question differences under (B, Q) weights."""
    return np.round(weights @ _finite(differences, 2).T, _DECIMALS)


def two_level_means(differences: FloatArray, question_weights: FloatArray, seed_weights: FloatArray) -> FloatArray:
    """(B, C) means of (C, S, Q) differences; questions (B, Q) and seeds (B, S) are resampled independently, as they are crossed
    (Owen's pigeonhole bootstrap: conservative by at most the interaction's own variance)."""
    c, s, q = _finite(differences, 3).shape
    by_seed = (question_weights @ differences.reshape(c * s, q).T).reshape(-1, c, s)
    return np.round(np.einsum("bcs,bs->bc", by_seed, seed_weights), _DECIMALS)


def _finite(differences: FloatArray, dimensions: int) -> FloatArray:
    if differences.ndim != dimensions or not np.isfinite(differences).all():
        raise ValueError(f"differences must be finite with {dimensions} axes, contrasts first and questions last, got {differences.shape}")
    return differences


def percentile(estimate: FloatArray, resampled: FloatArray, level: float = LEVEL) -> Intervals:
    """The (1-level)/2 and (1+level)/2 quantiles of (B, C) resampled estimates."""
    ordered = np.sort(resampled, axis=0)
    low, high = (_quantile_each(ordered, np.full(estimate.size, tail)) for tail in ((1 - level) / 2, (1 + level) / 2))
    return Intervals(estimate, low, high, level, "percentile")


def bca(differences: FloatArray, resampled: FloatArray, level: float = LEVEL) -> Intervals:
    """Bias-corrected and accelerated intervals of the means of (C, Q) differences (Efron 1987); the acceleration of a mean is closed-form.

    Equal to ``scipy.stats.bootstrap(method="BCa")`` on the same draws. A contrast whose differences are all equal gets that value alone.
    """
    estimate = np.round(differences.mean(axis=1), _DECIMALS)
    bias = special.ndtri(((resampled < estimate).mean(axis=0) + (resampled <= estimate).mean(axis=0)) / 2)
    centred = differences - differences.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    skewed = (centred**3).sum(axis=1)
    acceleration = np.divide(skewed, 6 * spread**1.5, out=np.zeros_like(skewed), where=spread > 1e-24)
    ordered = np.sort(resampled, axis=0)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + special.ndtri(tail)
        ends.append(_quantile_each(ordered, special.ndtr(bias + shifted / (1 - acceleration * shifted))))
    return Intervals(estimate, ends[0], ends[1], level, "bca")


def _quantile_each(ordered: FloatArray, share: FloatArray) -> FloatArray:
    """The ``share[c]`` quantile of each sorted column c, linear between order statistics as numpy does."""
    position = share * (ordered.shape[0] - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, ordered.shape[0] - 1)
    columns = np.arange(ordered.shape[1])
    return ordered[below, columns] + (position - below) * (ordered[above, columns] - ordered[below, columns])


def paired(
    differences: FloatArray, weights: FloatArray, method: Literal["percentile", "bca"] = "percentile", level: float = LEVEL
) -> Intervals:
    """Question-level intervals of the means of (C, Q) paired per-question differences."""
    resampled = resampled_means(differences, weights)
    return bca(differences, resampled, level) if method == "bca" else percentile(differences.mean(axis=1), resampled, level)


def these_questions(differences: FloatArray, seed_weights: FloatArray, level: float = LEVEL) -> Intervals:
    """Intervals of (C, S, Q) differences with the questions fixed and the seeds resampled. One seed gives a zero-width interval: no
    statement about other runs can be made from it, and callers show it as absent."""
    return percentile(differences.mean(axis=(1, 2)), resampled_means(differences.mean(axis=2), seed_weights), level)


def questions_like_these(
    differences: FloatArray, question_weights: FloatArray, seed_weights: FloatArray, level: float = LEVEL
) -> Intervals:
    """Intervals of (C, S, Q) differences with questions and seeds resampled."""
    return percentile(differences.mean(axis=(1, 2)), two_level_means(differences, question_weights, seed_weights), level)


def seed_t_interval(differences: FloatArray, level: float = LEVEL) -> Intervals:
    """Student's t over the S seed means of (C, S, Q) differences; needs two seeds."""
    means = _finite(differences, 3).mean(axis=2)
    seeds = means.shape[1]
    if seeds < 2:
        raise ValueError(f"a t interval over seeds needs at least 2 seeds, got {seeds}")
    half = stats.t.ppf((1 + level) / 2, seeds - 1) * means.std(axis=1, ddof=1) / np.sqrt(seeds)
    estimate = means.mean(axis=1)
    return Intervals(estimate, estimate - half, estimate + half, level, "seed-t")


def pooled(resampled: list[FloatArray], estimates: FloatArray, level: float = LEVEL) -> Intervals:
    """The interval of the mean over cells. ``resampled``: one (B,) per cell; cells on the same benchmark must come from the same weights,
    so that questions that several models share move together."""
    return percentile(np.array([estimates.mean()]), np.mean(resampled, axis=0)[:, None], level)
