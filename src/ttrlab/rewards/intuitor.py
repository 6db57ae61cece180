"""Self-certainty as a reward (INTUITOR, arXiv:2505.19590)."""

from typing import Literal

import numpy as np

from ttrlab.rewards.base import Rule
from ttrlab.types import RewardDecision, RolloutGroup


class Intuitor(Rule):
    """r_i = mean_t KL(U || p_t) + log |V| (INTUITOR, arXiv:2505.19590); the constant cancels in GRPO. No label, answers do not matter."""

    rule: Literal["intuitor"] = "intuitor"

    @property
    def needs(self) -> tuple[str, ...]:
        """Mean self-certainty of each roll-out."""
        return ("self_certainty",)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward distance from the uniform distribution."""
        return RewardDecision(group.signal("self_certainty").astype(np.float64), None)
