"""Entropy minimisation as a reward (RENT, arXiv:2505.22660)."""

from typing import Literal

import numpy as np

from ttrlab.rewards.base import Rule
from ttrlab.types import RewardDecision, RolloutGroup


class Rent(Rule):
    """r_i = -(1/|o_i|) sum_t H(p_t) in nats (RENT, arXiv:2505.22660); ``unparsed`` (-7.0) for a roll-out without an answer. No label."""

    rule: Literal["rent"] = "rent"
    unparsed: float = -7.0

    @property
    def needs(self) -> tuple[str, ...]:
        """Mean token entropy of each roll-out."""
        return ("entropy",)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward certainty."""
        return RewardDecision(np.where(group.parsed, -group.signal("entropy").astype(np.float64), self.unparsed), None)
