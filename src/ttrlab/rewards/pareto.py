"""SCOPE's choice among subgroup sizes (arXiv:2512.15146, section 3.3; the distance as in its released code)."""

import numpy as np
from numpy.typing import NDArray

from ttrlab.types import FloatArray

_EPSILON = 1e-8


def pareto_front(quality: FloatArray, diversity: FloatArray) -> NDArray[np.bool_]:
    """(k,) True where no other candidate is at least as good in both and better in one."""
    as_good = (quality[:, None] <= quality) & (diversity[:, None] <= diversity)
    better = (quality[:, None] < quality) | (diversity[:, None] < diversity)
    return np.logical_not((as_good & better).any(axis=1))


def distances(quality: FloatArray, diversity: FloatArray, trade_off: float) -> FloatArray:
    """(k,) sqrt(lambda (1 - r^)^2 + (1 - lambda) (1 - d^)^2) on the front, inf off it; ^ is min-max over the front."""
    front = pareto_front(quality, diversity)
    r, d = _min_max(quality, front), _min_max(diversity, front)
    return np.where(front, np.sqrt(trade_off * (1 - r) ** 2 + (1 - trade_off) * (1 - d) ** 2), np.inf)


def choose(quality: FloatArray, diversity: FloatArray, trade_off: float) -> int:
    """Index of the candidate nearest to the ideal; the first, which is the smallest subgroup, on ties."""
    return int(np.argmin(distances(quality, diversity, trade_off)))


def _min_max(values: FloatArray, front: NDArray[np.bool_]) -> FloatArray:
    low, high = values[front].min(), values[front].max()
    return (values - low) / (high - low + _EPSILON)
