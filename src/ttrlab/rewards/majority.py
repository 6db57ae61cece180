"""Majority vote (TTRL, arXiv:2504.16084)."""

from typing import Literal

import numpy as np

from ttrlab.rewards.base import Rule, first_best, match_rewards
from ttrlab.types import RewardDecision, RolloutGroup


class Majority(Rule):
    """label = argmax_a #{i : a_i = a};  r_i = 1[a_i = label]  (TTRL, arXiv:2504.16084).

    Ties go to the answer that was sampled first. An unparsed roll-out has no vote and reward 0 (TTRL's release lets the empty string
    win). Nothing parsed: no label, all rewards 0, abstained.
    """

    rule: Literal["majority"] = "majority"

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward agreement with the most frequent answer."""
        label = first_best(group.counts.astype(np.float64))
        return RewardDecision(rewards=match_rewards(group, label), pseudo_label=label, abstained=label is None)
