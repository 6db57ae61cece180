"""Test-time reinforcement learning: sample, decide, advantage, update, record."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ttrlab.adapt.decide import Grade, decide, form_group
from ttrlab.adapt.schedule import batch, total_steps
from ttrlab.advantage import question_advantage
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines.base import Policy, TrainingGroup
from ttrlab.meter import Meter
from ttrlab.rectifier.judge import Judge
from ttrlab.seeds import stream
from ttrlab.types import FloatArray, Question, RewardDecision, RolloutGroup

UNMETERED = Meter()
"""Runs the phases and writes nothing."""


@dataclass(frozen=True, slots=True)
class Step:
    """All that happened in one step: the groups with their signals, a decision and (train,) advantages each, the engine's numbers."""

    number: int
    groups: tuple[RolloutGroup, ...]
    decisions: tuple[RewardDecision, ...]
    advantages: tuple[FloatArray, ...]
    update: Mapping[str, float]


def adapt(
    spec: AdaptSpec,
    questions: Sequence[Question],
    policy: Policy,
    stats: frozenset[str],
    done: int = 0,
    judge: Judge | None = None,
    grade: Grade | None = None,
    meter: Meter = UNMETERED,
) -> Iterator[Step]:
    """Yield the steps after ``done``; the policy is updated when a step is yielded, so the caller may save it then.

    ``stats``: the per-token numbers that the engine attaches to roll-outs. ``grade``: the oracle's alone. ``meter`` gets the phases
    sample, decide and update of every step.
    """
    training, rule = spec.training, spec.rule
    for number in range(done + 1, spec.before + total_steps(len(questions), training) + 1):
        chosen = [questions[row] for row in batch(len(questions), training, spec.seed, number)]
        seeds = [stream(spec.seed, "rollouts", number, position) for position in range(len(chosen))]
        with meter.phase("sample", number) as counts:
            sampled = policy.sample(chosen, training.votes, spec.sampling, seeds, stats)
            counts["tokens"] = sum(len(rollout.token_ids) for rollouts in sampled for rollout in rollouts)
        with meter.phase("decide", number):
            formed = [
                form_group(question, rollouts, spec.kind, rule.needs, seed, grade)
                for question, rollouts, seed in zip(chosen, sampled, seeds, strict=True)
            ]
            groups, decisions = decide(rule, formed, judge)
            advantages = [question_advantage(d, training.train, training.normalise, training.ddof) for d in decisions]
        with meter.phase("update", number) as counts:
            counts["trained"] = sum(int((advantage != 0).sum()) for advantage in advantages)
            update = policy.update(
                [
                    TrainingGroup(group.question, group.rollouts[: training.train], advantage)
                    for group, advantage in zip(groups, advantages, strict=True)
                ],
                spec.sampling.temperature,
            )
        yield Step(number, tuple(groups), tuple(decisions), tuple(advantages), update)
