"""Selective positive and entropy-gated negative labels (SCRL, arXiv:2603.19880)."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ttrlab.rewards.base import RELATIVE_TIE, Rule, ranked_classes
from ttrlab.types import FloatArray, RewardDecision, RolloutGroup


class Scrl(Rule):
    """With p_a the share of answer a among all n roll-outs, H_a its mean entropy and H the mean over all n (SCRL, arXiv:2603.19880):

        y = most frequent answer, if p_y >= tau_pos and (it is the only one, or p_y - p_second > tau_margin); otherwise none
        negatives = answers a != y with p_a < tau_neg and H_a >= H
        binary:      r = 1 for y, -1 for negatives, 0 for others
        continuous:  r = p_a - lam (H_a - H) for y;  -(tau_neg - p_a) - lam (H_a - H) for negatives;  -lam (H_a - H) for others

    An unparsed roll-out earns -1 in both. Defaults are those of the run script (tau_pos .375, tau_margin .125, tau_neg .125), the YAML of
    the public code has .5/.15/.15. Its comment says p_a - tau_pos for y; the code, followed here, uses p_a. Nothing parsed: abstained.
    """

    rule: Literal["scrl"] = "scrl"
    tau_pos: float = Field(0.375, ge=0, le=1)
    tau_margin: float = Field(0.125, ge=0, le=1)
    tau_neg: float = Field(0.125, ge=0, le=1)
    lam: float = Field(0.1, ge=0)
    reward: Literal["binary", "continuous"] = "continuous"

    @property
    def needs(self) -> tuple[str, ...]:
        """Mean token entropy of each roll-out."""
        return ("entropy",)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward a clear consensus, punish rare and uncertain answers."""
        if not group.parsed.any():
            return RewardDecision(np.zeros(group.n), None, abstained=True)
        entropy = group.signal("entropy").astype(np.float64)
        share = group.counts / group.n
        by_class = np.bincount(group.answer_class[group.parsed], entropy[group.parsed]) / group.counts
        excess = by_class - entropy.mean()
        label = self._positive(group, share)
        negative = (share < self.tau_neg) & (excess >= -RELATIVE_TIE * abs(entropy.mean()))
        if label is not None:
            negative[label] = False
        per_class = self._per_class(share, excess, label, negative)
        rewards = np.where(group.parsed, per_class[group.answer_class], -1.0)
        stats = {"negatives": float(negative.sum()), "positive": float(label is not None)}
        return RewardDecision(rewards, label, stats=stats)

    def _positive(self, group: RolloutGroup, share: FloatArray) -> int | None:
        ranked = ranked_classes(group)
        first = int(ranked[0])
        clear = group.n_classes == 1 or share[first] - share[ranked[1]] > self.tau_margin
        return first if share[first] >= self.tau_pos and clear else None

    def _per_class(self, share: FloatArray, excess: FloatArray, label: int | None, negative: NDArray[np.bool_]) -> FloatArray:
        """(n_classes,) the reward of each answer's members."""
        if self.reward == "binary":
            rewards = -negative.astype(np.float64)
            if label is not None:
                rewards[label] = 1.0
            return rewards
        rewards = np.where(negative, share - self.tau_neg, 0.0) - self.lam * excess
        if label is not None:
            rewards[label] += share[label]
        return rewards
