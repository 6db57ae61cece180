"""Entropy-minimised policy optimisation over answer classes (EMPO, arXiv:2504.05812)."""

from typing import Literal

import numpy as np
from pydantic import model_validator

from ttrlab.rewards.base import Rule, first_best
from ttrlab.types import RewardDecision, RolloutGroup


class Empo(Rule):
    """r_i = n_{a_i} / n, the share of roll-outs that give the same answer (EMPO, arXiv:2504.05812); 0 for an unparsed one.

    ``band: [.3, 1]`` keeps only questions whose largest share lies in the band, as an option of the public code does (off there too);
    the paper filters by entropy. Nothing parsed or outside the band: abstained.
    """

    rule: Literal["empo"] = "empo"
    band: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _band_is_an_interval(self) -> "Empo":
        if self.band is not None and not 0 <= self.band[0] <= self.band[1] <= 1:
            raise ValueError(f"band must be [low, high] with 0 <= low <= high <= 1, got {self.band}")
        return self

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward each roll-out by its answer's share."""
        share = group.counts / group.n
        label = first_best(share)
        if label is None or (self.band is not None and not self.band[0] <= share.max() <= self.band[1]):
            return RewardDecision(np.zeros(group.n), None, abstained=True)
        return RewardDecision(np.where(group.parsed, share[group.answer_class], 0.0), label)
