"""Majority vote that abstains when the vote is weak: the frequency-only filters that TRUER is compared with."""

from typing import Literal

import numpy as np
from pydantic import Field

from ttrlab.rewards.base import Rule, match_rewards, ranked_classes
from ttrlab.types import RewardDecision, RolloutGroup


class VoteFilter(Rule):
    """label = majority if count_1 - count_2 >= margin and count_1 >= support, else abstain  (TRUER, arXiv:2611.13714, Table 11).

    count_2 = 0 for a single answer. The table prints "margin delta = 8" and "support >= 24" (of 32); ``>=`` for the margin is our
    reading. ``margin: 0, support: 1`` is the majority vote. Ties go to the answer that was sampled first, as in TTRL.
    """

    rule: Literal["vote_filter"] = "vote_filter"
    margin: int = Field(8, ge=0)
    support: int = Field(1, ge=1)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward agreement with a clear majority."""
        first, second = np.sort(np.concatenate([group.counts, [0, 0]]))[::-1][:2]
        stats = {"margin": float(first - second), "support": float(first)}
        if first < self.support or first - second < self.margin:
            return RewardDecision(match_rewards(group, None), None, abstained=True, stats=stats)
        label = int(ranked_classes(group)[0])
        return RewardDecision(match_rewards(group, label), label, stats=stats)
