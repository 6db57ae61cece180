"""The oracle: the reward that a labelled run would get. The only rule that needs gold."""

from typing import Literal

import numpy as np

from ttrlab.rewards.base import Rule, first_best
from ttrlab.types import RewardDecision, RolloutGroup


class Oracle(Rule):
    """r_i = 1[a_i = gold], read from the signal ``correct`` in {1, 0, -1}; an undecided verdict (-1) earns nothing and is counted.

    ``pseudo_label`` is the class that holds the correct roll-outs, None when there is none.
    """

    rule: Literal["oracle"] = "oracle"

    @property
    def needs(self) -> tuple[str, ...]:
        """The graded answers, the oracle's alone."""
        return ("correct",)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward agreement with gold."""
        correct = group.signal("correct")
        right = (correct == 1) & group.parsed
        votes = np.bincount(group.answer_class[right], minlength=group.n_classes).astype(np.float64)
        return RewardDecision(
            rewards=right.astype(np.float64),
            pseudo_label=first_best(votes),
            stats={"undecided": float((correct == -1).sum())},
        )
