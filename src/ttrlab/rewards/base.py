"""What every reward rule is: a frozen pydantic model whose fields are the hyper-parameters and whose call is the method."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from ttrlab.types import NO_ANSWER, FloatArray, IntArray, RewardDecision, RolloutGroup

RELATIVE_TIE = 1e-9
"""Scores closer than this, relative to the larger, are a tie."""


class Rule(BaseModel, ABC):
    """Maps a group of roll-outs to rewards. It sees integers and numbers, no tokenizer, no model and no gold answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    rule: str
    scope: ClassVar[Literal["question", "batch"]] = "question"
    """"batch": the rule looks at all groups of a step at once and overrides ``decide_all``."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the signals that the caller must put into ``group.signals``."""
        return ()

    @property
    def needs_gold(self) -> bool:
        """True for the oracle alone: it reads ``correct``."""
        return "correct" in self.needs

    @property
    def needs_judge(self) -> bool:
        """True for rules that ask a judge about roll-outs."""
        return bool({"judge_score", "judge_fits"} & set(self.needs))

    def requests(self, group: RolloutGroup) -> tuple[int, ...]:
        """Indices of the roll-outs that a judge must score before the rule can be called; () when nothing is missing.

        The caller judges them, fills ``judge_score`` and asks again until the answer is ().
        """
        return ()

    @abstractmethod
    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Decide one question."""

    def decide_all(self, groups: Sequence[RolloutGroup]) -> list[RewardDecision]:
        """Decide all questions of one step; one decision per group, in order."""
        return [self(group) for group in groups]


def first_best(scores: FloatArray) -> int | None:
    """Index of the largest score; ties (relative 1e-9) go to the smallest index, which is the class that appeared first.

    None for no scores at all, or when the largest is not positive.
    """
    if scores.size == 0 or scores.max() <= 0:
        return None
    return int(np.flatnonzero(scores >= scores.max() * (1 - RELATIVE_TIE))[0])


def class_sums(group: RolloutGroup, weights: FloatArray) -> FloatArray:
    """(n_classes,) sum of ``weights`` (n,) over the members of each answer class; unparsed roll-outs count nowhere."""
    return np.bincount(group.answer_class[group.parsed], weights[group.parsed], minlength=group.n_classes).astype(np.float64)


def match_rewards(group: RolloutGroup, label: int | None) -> FloatArray:
    """(n,) 1.0 where the roll-out's answer class is ``label``; all 0 when there is no label."""
    if label is None:
        return np.zeros(group.n)
    if label == NO_ANSWER:
        raise ValueError(f"question {group.question.id!r}: NO_ANSWER cannot be a pseudo-label")
    return (group.answer_class == label).astype(np.float64)


def vote_weights(group: RolloutGroup, signal: str | None) -> FloatArray:
    """(n,) float64 weights of a weighted vote: the named signal, or 1 for everybody; ValueError where one is negative."""
    if signal is None:
        return np.ones(group.n)
    weights = group.signal(signal).astype(np.float64)
    if (weights < 0).any():
        worst = int(weights.argmin())
        raise ValueError(
            f"question {group.question.id!r}: signal {signal!r} weighs votes, so it must be >= 0; roll-out {worst} has {weights[worst]}"
        )
    return weights


def ranked_classes(group: RolloutGroup) -> IntArray:
    """(n_classes,) class ids by falling count; equal counts in order of first appearance."""
    return np.argsort(-group.counts, kind="stable").astype(np.int64)
