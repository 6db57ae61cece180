"""Where the groups of one OpenRLHF step meet: drawn by its vLLM workers, decided together as in the loop, written, and sent back."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ttrlab.adapt.decide import decide
from ttrlab.adapt.loop import Step
from ttrlab.adapt.schedule import batch, total_steps
from ttrlab.advantage import question_advantage
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines.openrlhf.command import REWARD_BOUND
from ttrlab.rectifier.judge import Judge
from ttrlab.seeds import stream
from ttrlab.stages import rundir
from ttrlab.types import FloatArray, RewardDecision, RolloutGroup


@dataclass(frozen=True, slots=True)
class Ticket:
    """One question of one step: ``row`` of the questions file, ``seed`` of its roll-outs, both as in the loop."""

    step: int
    position: int
    row: int
    seed: int


@dataclass(frozen=True, slots=True)
class Settled:
    """What a group gets back: (train,) advantages, its decision's (n,) rewards, weight and whether it abstained."""

    advantages: FloatArray
    rewards: FloatArray
    weight: float
    abstained: bool


@dataclass
class _Open:
    """A step under way."""

    number: int
    taken: int = 0
    groups: dict[int, RolloutGroup] = field(default_factory=dict)
    phase: str = "sampling"
    settled: asyncio.Future[list[Settled]] | None = None


class Meeting:
    """One a run. Hands out the questions of a step, waits for all their groups, decides once, wakes everyone.

    ``done``: steps that are finished. ``patience``: seconds that any phase may last. A failure anywhere wakes all that wait, with its
    message, and refuses whatever comes later: the run stops.
    """

    def __init__(self, spec: AdaptSpec, folder: Path, done: int, patience: float, open_judge: Callable[[], Judge | None]) -> None:
        self.spec, self.folder, self.patience = spec, folder, patience
        self.judge = open_judge()
        self.last = total_steps(spec.rows, spec.training)
        self.step = _Open(done + 1)
        self.failure: str | None = None

    async def take(self) -> Ticket:
        """The next question. RuntimeError when OpenRLHF asks for more than the run has, or for the next step before this one is decided."""
        self._still_well()
        if self.step.taken == self.spec.training.batch:
            if self.step.settled is None or not self.step.settled.done():
                raise self._fail(f"step {self.step.number}: OpenRLHF draws question {self.step.taken + 1} of a batch of {self.step.taken}")
            self.step = _Open(self.step.number + 1)
        number, position = self.step.number, self.step.taken
        if number > self.last:
            raise self._fail(f"OpenRLHF asks for step {number}, but the run has {self.last}")
        self.step.taken += 1
        rows = batch(self.spec.rows, self.spec.training, self.spec.seed, number)
        return Ticket(number, position, rows[position], stream(self.spec.seed, "rollouts", number, position))

    async def settle(self, ticket: Ticket, group: RolloutGroup) -> Settled:
        """Leave a finished group and wait for the whole step's decision."""
        self._still_well()
        step = self.step
        if ticket.step != step.number or ticket.position in step.groups:
            raise self._fail(f"a group of step {ticket.step}, position {ticket.position} came during step {step.number}")
        step.groups[ticket.position] = group
        if step.settled is None:
            step.settled = asyncio.get_running_loop().create_future()
        if len(step.groups) == self.spec.training.batch:
            await self._decide(step)
        try:
            settled = await asyncio.wait_for(asyncio.shield(step.settled), self.patience)
        except TimeoutError:
            missing = sorted(set(range(self.spec.training.batch)) - set(step.groups))
            detail = f", positions {missing} are missing" if missing else ""
            raise self._fail(f"step {step.number}: the phase {step.phase!r} lasts longer than {self.patience:g} s{detail}") from None
        return settled[ticket.position]

    async def fail(self, message: str) -> None:
        """Wake all that wait: some group of the run failed."""
        self._fail(message)

    async def _decide(self, step: _Open) -> None:
        """Decide off the event loop, which the workers' calls share."""
        assert step.settled is not None
        step.phase = "deciding"
        groups = [step.groups[position] for position in range(self.spec.training.batch)]
        work = asyncio.get_running_loop().run_in_executor(None, decided, self.spec, self.folder, step.number, groups, self.judge)
        try:
            settled = await asyncio.wait_for(work, self.patience)
        except TimeoutError:
            raise self._fail(f"step {step.number}: the phase 'deciding' lasts longer than {self.patience:g} s") from None
        except Exception as error:
            self._fail(f"step {step.number}: {type(error).__name__}: {error}")
            raise
        if not step.settled.done():
            step.settled.set_result(settled)

    def _still_well(self) -> None:
        if self.failure is not None:
            raise RuntimeError(self.failure)

    def _fail(self, message: str) -> RuntimeError:
        """Note the first failure and wake the step; returns the error to raise."""
        self.failure = self.failure or message
        error = RuntimeError(self.failure)
        if self.step.settled is not None and not self.step.settled.done():
            self.step.settled.set_exception(error)
            self.step.settled.exception()  # seen, even if nobody waits
        return error


def decided(spec: AdaptSpec, folder: Path, number: int, formed: Sequence[RolloutGroup], judge: Judge | None) -> list[Settled]:
    """Decide one step as the loop does, write its record, and give each group its advantages. ValueError for one beyond the bound."""
    training = spec.training
    groups, decisions = decide(spec.rule, formed, judge)
    advantages = [question_advantage(decision, training.train, training.normalise, training.ddof) for decision in decisions]
    largest = max(float(np.abs(advantage).max()) for advantage in advantages)
    if largest > REWARD_BOUND:
        raise ValueError(f"step {number}: an advantage of {largest} is beyond {REWARD_BOUND}, where OpenRLHF would clip it")
    keep = (number - 1) % training.store_rollouts_every == 0 or number == total_steps(spec.rows, training)
    no_update: Mapping[str, float] = {}  # it comes later, and is joined from OpenRLHF's own events
    rundir.write_step(folder, Step(number, tuple(groups), tuple(decisions), tuple(advantages), no_update), keep)
    return [_settled(decision, advantage) for decision, advantage in zip(decisions, advantages, strict=True)]


def _settled(decision: RewardDecision, advantages: FloatArray) -> Settled:
    return Settled(advantages, decision.rewards, float(decision.weight), decision.abstained)
