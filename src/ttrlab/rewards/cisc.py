"""Confidence-weighted voting (CISC, arXiv:2502.06233), CoRE's control without the graph."""

from typing import Literal

import numpy as np
from pydantic import Field

from ttrlab.consensus.affinity import confidence_weights
from ttrlab.rewards.base import Rule, class_sums, first_best, match_rewards
from ttrlab.types import RewardDecision, RolloutGroup


class Cisc(Rule):
    """w_i = exp((c_i - max_j c_j) / T);  label = argmax_a sum of w over class a;  r_i = 1[a_i = label]  (CISC, arXiv:2502.06233).

    CISC normalises w by its sum, which changes no label. It tunes T per model; here it is CoRE's tau, because CoRE uses the vote as its
    control. c_i is the mean log-prob; the maximum is over parsed roll-outs. Nothing parsed: no label, abstained.
    """

    rule: Literal["cisc"] = "cisc"
    temperature: float = Field(0.25, gt=0)

    @property
    def needs(self) -> tuple[str, ...]:
        """Confidence."""
        return ("mean_logprob",)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward agreement with the answer of greatest confidence."""
        w = confidence_weights(group.signal("mean_logprob").astype(np.float64), group.parsed, self.temperature)
        label = first_best(class_sums(group, w))
        return RewardDecision(match_rewards(group, label), label, abstained=label is None, per_rollout={"weight": w})
