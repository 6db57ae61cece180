"""Aggregates over runs and tasks as rliable defines them (Agarwal et al. 2021, arXiv:2108.13264): IQM, probability of improvement."""

import numpy as np
from scipy import stats

from ttrlab.evaluate.bootstrap import LEVEL, RESAMPLES, Intervals, percentile
from ttrlab.seeds import rng
from ttrlab.types import FloatArray


def interquartile_mean(scores: FloatArray) -> float:
    """Mean of the middle half of all run scores, runs and tasks flattened (25 % trimmed from each end)."""
    return float(stats.trim_mean(scores, proportiontocut=0.25, axis=None))


def probability_of_improvement(x: FloatArray, y: FloatArray) -> float:
    """P(X > Y) + P(X = Y) / 2 over run pairs of a task, averaged over tasks. ``x`` (runs_x, tasks), ``y`` (runs_y, tasks)."""
    return float(_improvement(x[None], y[None])[0])


def _improvement(x: FloatArray, y: FloatArray) -> FloatArray:
    """(B,) for stacks (B, runs, tasks): the Mann-Whitney U statistic over runs_x * runs_y, averaged over tasks."""
    if x.shape[2] != y.shape[2]:
        raise ValueError(f"both arms need the same tasks, got {x.shape[2]} and {y.shape[2]}")
    left, right = x[:, :, None, :], y[:, None, :, :]
    return ((left > right) + 0.5 * (left == right)).mean(axis=(1, 2, 3))


def iqm_interval(scores: FloatArray, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0) -> Intervals:
    """Percentile interval of the IQM of (runs, tasks) scores, runs resampled within each task (stratified)."""
    drawn = _stratified(scores, resamples, seed, "iqm").reshape(resamples, -1)
    resampled = stats.trim_mean(drawn, proportiontocut=0.25, axis=1)
    return percentile(np.array([interquartile_mean(scores)]), resampled[:, None], level)


def improvement_interval(x: FloatArray, y: FloatArray, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = 0) -> Intervals:
    """Percentile interval of the probability of improvement, the runs of each arm resampled within each task."""
    resampled = _improvement(_stratified(x, resamples, seed, "x"), _stratified(y, resamples, seed, "y"))
    return percentile(np.array([probability_of_improvement(x, y)]), resampled[:, None], level)


def _stratified(scores: FloatArray, resamples: int, seed: int, name: str) -> FloatArray:
    """(B, runs, tasks): the runs of every task resampled on their own."""
    runs, tasks = scores.shape
    drawn = rng(seed, "stratified", name).integers(0, runs, (resamples, runs, tasks))
    return scores[drawn, np.arange(tasks)]
