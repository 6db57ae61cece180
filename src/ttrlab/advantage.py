"""From rewards to GRPO advantages, in float64 (DeepSeekMath, arXiv:2402.03300; statistics as in verl)."""

from typing import Literal

import numpy as np

from ttrlab.types import FloatArray, RewardDecision

Normalise = Literal["std", "none"]
EPSILON = 1e-6
_FLAT = 1e-12
"""Rewards closer than this to each other are equal: their spread is rounding, not preference."""


def group_advantage(rewards: FloatArray, normalise: Normalise = "std", ddof: int = 1) -> FloatArray:
    """A_i = (r_i - mean r) / (std r + 1e-6); ``normalise="none"`` leaves r_i - mean r (Dr.GRPO, arXiv:2503.20783).

    ``rewards`` (n,) float64 -> (n,) float64. Equal rewards give exact zeros, and so does n = 1. ``ddof=1`` is verl's unbiased
    standard deviation.
    """
    if rewards.size < 2 or np.ptp(rewards) <= _FLAT:
        return np.zeros_like(rewards)
    centred = rewards - rewards.mean()
    return centred if normalise == "none" else centred / (rewards.std(ddof=ddof) + EPSILON)


def question_advantage(decision: RewardDecision, n_train: int, normalise: Normalise = "std", ddof: int = 1) -> FloatArray:
    """(n_train,) advantages of the first ``n_train`` roll-outs, times the question's weight; zeros where the rule abstained.

    Statistics are over the trained roll-outs only (TTRL). Multiplying A by w >= 0 after normalisation equals multiplying the
    question's clipped policy loss by w, because the clip is positively homogeneous in A; the KL term does not see it.
    """
    if not 1 <= n_train <= decision.rewards.size:
        raise ValueError(f"n_train must lie in 1..{decision.rewards.size} (the votes), got {n_train}")
    if decision.abstained:
        return np.zeros(n_train)
    return decision.weight * group_advantage(decision.rewards[:n_train], normalise, ddof)
