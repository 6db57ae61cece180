"""Test-time reinforcement learning: sample, decide, advantage, update, record."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ttrlab.adapt.decide import Grade, decide, form_group
from ttrlab.adapt.schedule import batch, total_steps
from ttrlab.advantage import question_advantage
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines.base import Policy, TrainingGroup
from ttrlab.rectifier.judge import Judge
from ttrlab.seeds import stream
from ttrlab.types import FloatArray, Question, RewardDecision, RolloutGroup


@dataclass(frozen=True, slots=True)
class Step:
    """All that happened in one step: the groups with their signals, a decision and (train,) advantages each, the engine's numbers.

    ``seconds``: wall-clock seconds by phase (sample, decide, update).
    """

    number: int
    groups: tuple[RolloutGroup, ...]
    decisions: tuple[RewardDecision, ...]
    advantages: tuple[FloatArray, ...]
    update: Mapping[str, float]
    seconds: Mapping[str, float]


@dataclass
class Clock:
    """Wall-clock seconds by phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time that the block takes to ``name``."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def adapt(
    spec: AdaptSpec,
    questions: Sequence[Question],
    policy: Policy,
    stats: frozenset[str],
    done: int = 0,
    judge: Judge | None = None,
    grade: Grade | None = None,
) -> Iterator[Step]:
    """Yield the steps after ``done``; the policy is updated when a step is yielded, so the caller may save it then.

    ``stats``: the per-token numbers that the engine attaches to roll-outs. ``grade``: the oracle's alone.
    """
    training, rule = spec.training, spec.rule
    for number in range(done + 1, total_steps(len(questions), training) + 1):
        clock = Clock()
        chosen = [questions[row] for row in batch(len(questions), training, spec.seed, number)]
        seeds = [stream(spec.seed, "rollouts", number, position) for position in range(len(chosen))]
        with clock.phase("sample"):
            sampled = policy.sample(chosen, training.votes, spec.sampling, seeds, stats)
        with clock.phase("decide"):
            formed = [
                form_group(question, rollouts, spec.kind, rule.needs, seed, grade)
                for question, rollouts, seed in zip(chosen, sampled, seeds, strict=True)
            ]
            groups, decisions = decide(rule, formed, judge)
            advantages = [question_advantage(d, training.train, training.normalise, training.ddof) for d in decisions]
        with clock.phase("update"):
            update = policy.update(
                [
                    TrainingGroup(group.question, group.rollouts[: training.train], advantage)
                    for group, advantage in zip(groups, advantages, strict=True)
                ],
                spec.sampling.temperature,
            )
        yield Step(number, tuple(groups), tuple(decisions), tuple(advantages), update, clock.seconds)
