"""Voting weighted and filtered by confidence (DeepConf, arXiv:2508.15260)."""

from typing import Literal

import numpy as np
from pydantic import Field

from ttrlab.rewards.base import Rule, class_sums, first_best, match_rewards, vote_weights
from ttrlab.types import RewardDecision, RolloutGroup


class DeepConf(Rule):
    """keep = {i : C_i >= percentile_{100 (1 - keep)} C};  label = argmax_a sum over kept i of C_i 1[a_i = a];  r_i = 1[a_i = label].

    DeepConf (arXiv:2508.15260) is an inference rule; the binary reward is ours. ``keep: 0.1`` and ``0.9`` are its filters, 1 the weighted
    vote. The percentile (linear interpolation) is over roll-outs with an answer; a filtered roll-out has no vote but can be rewarded.
    C_i is positive and not normalised (10 to 14 for real models), so the weighting alone is mild. ``weighted: false`` counts the kept.
    """

    rule: Literal["deepconf"] = "deepconf"
    confidence: str = "trace_confidence"
    keep: float = Field(1.0, gt=0, le=1)
    weighted: bool = True

    @property
    def needs(self) -> tuple[str, ...]:
        """The confidence that weighs and filters."""
        return (self.confidence,)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward agreement with the confident roll-outs' answer."""
        confidence = vote_weights(group, self.confidence)
        parsed = confidence[group.parsed]
        threshold = np.percentile(parsed, 100 * (1 - self.keep)) if parsed.size else np.inf
        kept = group.parsed & (confidence >= threshold)
        weights = np.where(kept, confidence if self.weighted else np.ones(group.n), 0.0)
        label = first_best(class_sums(group, weights))
        return RewardDecision(
            match_rewards(group, label),
            label,
            abstained=label is None,
            stats={"kept": float(kept.sum())},
            per_rollout={"weight": weights},
        )
