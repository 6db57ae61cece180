"""What a judgement earns while the rectifier learns, and how far its group is expanded (TRUER, section 4.2 and Table 5)."""

from collections.abc import Sequence

import numpy as np

from ttrlab.advantage import group_advantage
from ttrlab.rectifier.judgement import ACCEPT, LARGEST, Judgement, conflicts
from ttrlab.types import FloatArray

MALFORMED = -1.2
"""Reward of a malformed or truncated judgement: just below the worst valid one, -1.1."""

CONFLICT = 0.1
"""Taken off where the reason states the opposite of the score."""

_FLAT = 1e-12


def judgement_reward(judgement: Judgement, correct: bool) -> float:
    """R_V = 1 - 2 (p - c)^2 - 0.1 [explicit conflict of reason and score], p = score / 10, c = 1 for a correct candidate; else -1.2.

    Source: TRUER, equation 2. The paper gives no scale; integers 0..10 are what makes -1.2 lie just below the worst valid reward and
    max(s - 4, 0) of equation 7 run over 1..6.
    """
    if judgement.fault is not None:
        return MALFORMED
    return 1 - 2 * (judgement.score / LARGEST - correct) ** 2 - CONFLICT * conflicts(judgement)


def successful(judgement: Judgement, correct: bool) -> bool:
    """A valid judgement on the right side of the threshold. The paper leaves the word undefined."""
    return judgement.fault is None and (judgement.score >= ACCEPT) == correct


def next_size(rewards: FloatArray, successes: Sequence[bool], sizes: Sequence[int]) -> int | None:
    """The size to expand a group to, or None: equal rewards that are not all successes teach nothing yet, so more are drawn.

    ``rewards`` (n,) and ``successes`` (n,) of the judgements so far; ``sizes``: increasing, e.g. (8, 16, 32), and n is one of them.
    """
    n = rewards.size
    if n not in sizes or len(successes) != n:
        raise ValueError(f"a group has one of the sizes {tuple(sizes)} and a success a reward, got {n} rewards, {len(successes)} successes")
    settled = np.ptp(rewards) > _FLAT or all(successes)
    larger = [size for size in sizes if size > n]
    return None if settled or not larger else larger[0]


def candidate_advantages(rewards: FloatArray, weight: float) -> FloatArray:
    """(n,) GRPO advantages of one candidate's judgements times its category weight, which so multiplies the candidate's policy loss."""
    return weight * group_advantage(rewards)
