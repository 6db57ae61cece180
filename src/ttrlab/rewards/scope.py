"""SCOPE: subgroup-specific, step-wise confidence-weighted pseudo-labels (arXiv:2512.15146)."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from ttrlab.rewards.base import Rule, first_best, match_rewards, vote_weights
from ttrlab.rewards.pareto import choose
from ttrlab.seeds import rng
from ttrlab.types import NO_ANSWER, FloatArray, IntArray, RewardDecision, RolloutGroup


class SubgroupRule(Rule):
    """Sections 3.2 and 3.3, given a vote over a bootstrap sample:

    Subgroups are consecutive blocks of m roll-outs in sampling order. The label of subgroup j is the vote over B_j, ``bootstrap``
    roll-outs (half of them) drawn from all; r_i = 1[a_i = label of i's subgroup], 0 where B_j holds no answer. m is the Pareto choice
    between mean reward r(m) and number of distinct labels d(m) (``pareto.choose``), one m for all questions of a step, or one a question
    (``select: question``; the paper's text allows either, its code does the former).

    The text says bootstrap; its code draws without replacement, which produced the results and is the default. Each question and m has its
    own stream of draws. Labels are drawn anew once m is chosen, as in the code; ``reuse_labels`` keeps those that m
    was chosen by. Roll-outs are exchangeable, so E[r(m)] is the same for every m while d(m) falls with m: the choice is made by
    noise in r and by d.
    """

    scope: ClassVar[Literal["question", "batch"]] = "batch"
    sizes: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    bootstrap: int | None = Field(None, ge=1)
    replace: bool = False
    trade_off: float = Field(0.5, ge=0, le=1)
    select: Literal["batch", "question"] = "batch"
    reuse_labels: bool = False

    @field_validator("sizes")
    @classmethod
    def _ascending(cls, sizes: tuple[int, ...]) -> tuple[int, ...]:
        if not sizes or sizes[0] < 1 or list(sizes) != sorted(set(sizes)):
            raise ValueError(f"sizes must be ascending positive numbers, got {sizes}")
        return sizes

    @abstractmethod
    def votes(self, group: RolloutGroup, drawn: IntArray) -> IntArray:
        """(k,) the label that each row of ``drawn`` (k, size) elects, indices of roll-outs; NO_ANSWER where none of them has an answer."""

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Decide a step of one question."""
        return self.decide_all([group])[0]

    def decide_all(self, groups: Sequence[RolloutGroup]) -> list[RewardDecision]:
        """Choose m for the step, then label every subgroup."""
        if not groups:
            return []
        if self.select == "question":
            return [decision for group in groups for decision in self._decide_batch([group])]
        return self._decide_batch(groups)

    def _decide_batch(self, groups: Sequence[RolloutGroup]) -> list[RewardDecision]:
        sizes = [m for m in self.sizes if all(group.n % m == 0 for group in groups)]
        if not sizes:
            raise ValueError(f"none of the subgroup sizes {self.sizes} divides the number of roll-outs, {sorted({g.n for g in groups})}")
        trials = [[self._labels(group, m, "trial") for m in sizes] for group in groups]
        quality = np.mean([[_agreement(group, labels) for labels in row] for group, row in zip(groups, trials, strict=True)], axis=0)
        diversity = np.mean([[_distinct(labels) for labels in row] for row in trials], axis=0)
        best = choose(quality, diversity, self.trade_off)
        stats = {
            "subgroup_size": float(sizes[best]),
            **{f"quality_{m}": float(r) for m, r in zip(sizes, quality, strict=True)},
            **{f"diversity_{m}": float(d) for m, d in zip(sizes, diversity, strict=True)},
        }
        final = [
            row[best] if self.reuse_labels else self._labels(group, sizes[best], "final") for group, row in zip(groups, trials, strict=True)
        ]
        return [_decision(group, labels, stats) for group, labels in zip(groups, final, strict=True)]

    def _labels(self, group: RolloutGroup, m: int, draw: str) -> IntArray:
        """(n,) label of each roll-out's subgroup; NO_ANSWER where the bootstrap sample elected none."""
        size = max(1, group.n // 2) if self.bootstrap is None else self.bootstrap
        if size > group.n and not self.replace:
            raise ValueError(f"question {group.question.id!r}: cannot draw {size} of {group.n} roll-outs without replacement")
        stream = rng(group.seed, "scope", draw, group.question.id, m)
        if self.replace:
            drawn = stream.integers(0, group.n, (group.n // m, size))
        else:
            drawn = stream.random((group.n // m, group.n)).argsort(axis=1, kind="stable")[:, :size]
        return np.repeat(self.votes(group, drawn), m)


class Scope(SubgroupRule):
    """label of B = argmax_a sum over i in B of C_i 1[a_i = a], C_i the step confidence (SCOPE, arXiv:2512.15146).

    Ablations (its Table 2): ``confidence: null`` is w/o Conf, ``subgroups: false`` is w/o Subgroup, one label from all roll-outs.
    Figure 4: other confidences by name. Figure 5: ``sizes: [8]`` fixes m. ``trade_off`` is its lambda: the text finds 0.5 best, all its
    released scripts use 0.7. Nothing parsed: no label, abstained. m = n still draws one bootstrap sample of half the roll-outs.
    """

    rule: Literal["scope"] = "scope"
    confidence: str | None = "step_confidence"
    subgroups: bool = True

    @property
    def needs(self) -> tuple[str, ...]:
        """The confidence, if any."""
        return () if self.confidence is None else (self.confidence,)

    def votes(self, group: RolloutGroup, drawn: IntArray) -> IntArray:
        """Confidence-weighted votes; ties go to the class that appeared first in sampling order."""
        weights = vote_weights(group, self.confidence)
        scores = np.zeros((drawn.shape[0], group.n_classes + 1))  # the last column takes NO_ANSWER = -1
        np.add.at(scores, (np.arange(drawn.shape[0])[:, None], group.answer_class[drawn]), weights[drawn])
        return np.array([NO_ANSWER if (label := first_best(row)) is None else label for row in scores[:, :-1]])

    def decide_all(self, groups: Sequence[RolloutGroup]) -> list[RewardDecision]:
        """One label a subgroup, or one a question."""
        if self.subgroups:
            return super().decide_all(groups)
        return [_decision(group, np.repeat(self.votes(group, np.arange(group.n)[None]), group.n), {}) for group in groups]


def _agreement(group: RolloutGroup, labels: IntArray) -> float:
    """r(m): the mean reward of one question."""
    return float(_rewards(group, labels).mean())


def _distinct(labels: IntArray) -> int:
    """d(m): the number of distinct labels of one question."""
    return int(np.unique(labels[labels != NO_ANSWER]).size)


def _rewards(group: RolloutGroup, labels: IntArray) -> FloatArray:
    return ((group.answer_class == labels) & (labels != NO_ANSWER)).astype(np.float64)


def _decision(group: RolloutGroup, labels: IntArray, stats: dict[str, float]) -> RewardDecision:
    """``pseudo_label`` is the label of most roll-outs; ``labels`` holds each roll-out's own."""
    given = labels[labels != NO_ANSWER]
    if given.size == 0:
        return RewardDecision(match_rewards(group, None), None, labels=labels, abstained=True, stats=stats)
    most = first_best(np.bincount(given).astype(np.float64))
    return RewardDecision(_rewards(group, labels), most, labels=labels, stats={**stats, "labels": float(_distinct(labels))})
