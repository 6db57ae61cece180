"""Sample efficiency: in how many fewer steps does a method reach the baseline's plateau?

CoRE's claim is "54 to 70 % fewer steps to the vote's plateau accuracy"; the text does not define the plateau. Here it is the mean of the
baseline's last ``tail`` evaluated checkpoints, and the steps of each arm are those at which its mean curve, linear between checkpoints,
first reaches that level. Both arms are held to the same level by the same rule, so a noisy early crossing helps both.
"""

from dataclasses import dataclass

import numpy as np

from ttrlab.evaluate.bootstrap import LEVEL
from ttrlab.types import FloatArray


@dataclass(frozen=True, slots=True)
class FewerSteps:
    """One arm's steps to the other's plateau.

    ``fewer``: 1 - steps(method) / steps(baseline), 0.54 for "54 % fewer"; -inf when the method never gets there, NaN when the baseline's
    plateau is no higher than its start, so that there is nothing to reach. ``low``, ``high``: its interval over the resamples in which
    it is defined. ``reached``, ``defined``: shares of resamples in which the method gets there, and in which there is something to reach.
    """

    fewer: float
    low: float
    high: float
    plateau: float
    method_steps: float
    baseline_steps: float
    reached: float
    defined: float


def steps_to(steps: FloatArray, curves: FloatArray, level: FloatArray) -> FloatArray:
    """(...) first step at which each (..., T) curve reaches its (...) level, linear between the (T,) steps; inf where it never does."""
    if steps.ndim != 1 or curves.shape[-1] != steps.size or (np.diff(steps) <= 0).any():
        raise ValueError(f"steps must increase, one a curve point; got steps {steps.tolist()} for curves {curves.shape}")
    there = curves >= level[..., None]
    at = there.argmax(axis=-1)
    before = np.maximum(at - 1, 0)
    value_at, value_before = (np.take_along_axis(curves, index[..., None], -1)[..., 0] for index in (at, before))
    rise = value_at - value_before
    part = np.divide(level - value_before, rise, out=np.ones_like(rise), where=rise > 0)
    crossing = np.where(at == 0, steps[0], steps[before] + part * (steps[at] - steps[before]))
    return np.where(there.any(axis=-1), crossing, np.inf)


def fewer_steps(
    steps: FloatArray,
    method: FloatArray,
    baseline: FloatArray,
    question_weights: FloatArray,
    seed_weights: FloatArray,
    tail: int = 1,
    level: float = LEVEL,
) -> FewerSteps:
    """Compare (S, Q, T) curves of two arms at the same (T,) ``steps``, the first of which is the model as given.

    ``question_weights`` (B, Q) and ``seed_weights`` (B, S) come from ``bootstrap.resample_weights`` and serve both arms.
    """
    for name, curves in (("method", method), ("baseline", baseline)):
        if curves.ndim != 3 or curves.shape[2] != steps.size or not 1 <= tail < steps.size:
            raise ValueError(
                f"{name} has shape {curves.shape}, expected (seeds, questions, {steps.size}) with more points than tail={tail}"
            )
    stacks = [np.concatenate([arm.mean(axis=(0, 1))[None], _resampled(arm, question_weights, seed_weights)]) for arm in (method, baseline)]
    arms = [np.round(stack, 12) for stack in stacks]
    plateau = arms[1][:, -tail:].mean(axis=1)
    method_steps, baseline_steps = (steps_to(steps, arm, plateau) - steps[0] for arm in arms)
    defined = baseline_steps > 0
    fewer = np.full(plateau.shape, np.nan)
    fewer[defined] = 1.0 - method_steps[defined] / baseline_steps[defined]
    known = fewer[1:][defined[1:]]
    ends = np.quantile(known, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf") if known.size else (np.nan, np.nan)
    return FewerSteps(
        fewer=float(fewer[0]),
        low=float(ends[0]),
        high=float(ends[1]),
        plateau=float(plateau[0]),
        method_steps=float(method_steps[0]),
        baseline_steps=float(baseline_steps[0]),
        reached=float(np.isfinite(method_steps[1:]).mean()),
        defined=float(defined[1:].mean()),
    )


def _resampled(curves: FloatArray, question_weights: FloatArray, seed_weights: FloatArray) -> FloatArray:
    """(B, T) mean curves of (S, Q, T) curves."""
    seeds, questions, points = curves.shape
    by_seed = (question_weights @ curves.transpose(1, 0, 2).reshape(questions, seeds * points)).reshape(-1, seeds, points)
    return np.einsum("bst,bs->bt", by_seed, seed_weights)
