"""From roll-outs to decisions: the one path that the loop, the cluster's agent and replay share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ttrlab import grading, signals
from ttrlab.config.catalogue import AnswerKind
from ttrlab.rectifier.judge import Judge, JudgeItem
from ttrlab.rewards import Rule
from ttrlab.types import Question, RewardDecision, Rollout, RolloutGroup

Grade = Callable[[str, Sequence[str | None]], NDArray[np.int8]]
"""(question id, answers) -> (n,) int8 in {1, 0, -1 undecided}. Only the oracle's run has one."""


def form_group(
    question: Question, rollouts: Sequence[Rollout], kind: AnswerKind, needs: Iterable[str], seed: int, grade: Grade | None = None
) -> RolloutGroup:
    """Extract the answers, number their classes and compute the signals in ``needs``.

    ``correct`` comes from ``grade``; asking for it without one is a ValueError that names the question. ``judge_score`` and
    ``judge_fits`` are left to ``decide``.
    """
    answered = tuple(replace(rollout, answer=grading.extract(rollout.text, kind)) for rollout in rollouts)
    answers = [rollout.answer for rollout in answered]
    needs = tuple(needs)
    computed = dict(signals.compute(needs, answered))
    if "correct" in needs:
        if grade is None:
            raise ValueError(f"question {question.id!r}: the rule asks for gold, and this run has none")
        computed["correct"] = grade(question.id, answers)
    return RolloutGroup(question, answered, grading.classes(answers), computed, seed)


def decide(rule: Rule, groups: Sequence[RolloutGroup], judge: Judge | None = None) -> tuple[list[RolloutGroup], list[RewardDecision]]:
    """Let the rule decide all groups of a step, judging whatever it asks for first, one batch a round over all questions.

    Returns the groups with their judgements filled in, and one decision a group. ValueError when the rule asks for a judge and there
    is none.
    """
    groups = list(groups)
    if rule.needs_judge:
        if judge is None:
            raise ValueError(f"rule {rule.rule!r} asks for a judge, and this run has none")
        groups = [_with_eligibility(group, judge) for group in groups]
        while asked := [(g, i) for g, group in enumerate(groups) for i in rule.requests(group)]:
            judged = judge.judge([_item(groups[g], i) for g, i in asked])
            for (g, i), verdict in zip(asked, judged, strict=True):
                scores = groups[g].signals["judge_score"].copy()
                scores[i] = verdict.score
                groups[g] = replace(groups[g], signals={**groups[g].signals, "judge_score": scores})
    return groups, rule.decide_all(groups)


def _item(group: RolloutGroup, index: int) -> JudgeItem:
    rollout = group.rollouts[index]
    if rollout.answer is None:
        raise ValueError(f"question {group.question.id!r}: roll-out {index} has no answer to judge")
    return JudgeItem(question=group.question.prompt, solution=rollout.text, answer=rollout.answer)


def _with_eligibility(group: RolloutGroup, judge: Judge) -> RolloutGroup:
    """Mark which roll-outs a judge can be asked about (parsed, not truncated, the prompt fits); no score yet."""
    fits = [
        rollout.answer is not None and not rollout.truncated and judge.fits(_item(group, i)) for i, rollout in enumerate(group.rollouts)
    ]
    asked = {"judge_fits": np.array(fits), "judge_score": np.full(group.n, np.nan)}
    return replace(group, signals={**group.signals, **asked})
