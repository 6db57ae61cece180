"""SCOPE as its public code behaves, for comparison with ``scope``."""

from typing import Literal

import numpy as np
from pydantic import Field

from ttrlab.rewards.base import vote_weights
from ttrlab.rewards.scope import SubgroupRule
from ttrlab.types import NO_ANSWER, IntArray, RolloutGroup


class ScopeReleased(SubgroupRule):
    """label of B = argmax_a sum over k of C_(k) 1[a_[k] = a], a_[k] the k-th *parsed* answer of B, C_(k) the k-th *drawn* confidence.

    Two faults of the public code (szu-tera/SCOPE @0c45ca79), kept on purpose: answers that do not parse are dropped before they are
    zipped with the confidences, so weights slide to other answers; and its roll-out worker asks for ``logprobs=0``, so that C is the
    surprisal -log p(o_t), which falls with certainty. lambda is 0.7, as in all its scripts. Ties go to the answer drawn first. Its
    unseeded draws are seeded here, and C is not rounded to three decimals.
    """

    rule: Literal["scope_released"] = "scope_released"
    trade_off: float = Field(0.7, ge=0, le=1)

    @property
    def needs(self) -> tuple[str, ...]:
        """The surprisal that the public code takes for confidence."""
        return ("step_surprisal",)

    def votes(self, group: RolloutGroup, drawn: IntArray) -> IntArray:
        """The misaligned, uncertainty-weighted vote of each row."""
        weights = vote_weights(group, "step_surprisal")
        return np.array([_zipped_vote(group.answer_class[row].tolist(), weights[row].tolist()) for row in drawn])


def _zipped_vote(answers: list[int], weights: list[float]) -> int:
    parsed = [answer for answer in answers if answer != NO_ANSWER]
    scores = dict.fromkeys(parsed, 0.0)
    for answer, weight in zip(parsed, weights, strict=False):
        scores[answer] += weight
    return max(scores, key=scores.__getitem__, default=NO_ANSWER)
