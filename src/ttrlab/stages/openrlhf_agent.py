"""What OpenRLHF's vLLM workers load: N calls, one a roll-out, become one group, whose rule decides as in the loop.

OpenRLHF calls ``execute`` N times for one prompt in one event loop, always with the same ``sampling_params`` object and never with N. Here
the siblings meet on that object; one task draws all votes, forms the group and takes it to the step's meeting; each sibling then returns
its own roll-out with its advantage in the place of the reward.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from pydantic import model_validator

from ttrlab.adapt.decide import form_group
from ttrlab.benchmarks import read_questions
from ttrlab.config.settings import Frozen
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines.base import TOP_K
from ttrlab.engines.prompts import Prompter
from ttrlab.engines.vllm import token_numbers
from ttrlab.grading import use_cache
from ttrlab.rectifier.judge import Judge
from ttrlab.rectifier.stored import JUDGEMENTS
from ttrlab.seeds import stream
from ttrlab.stages.gold import grader
from ttrlab.stages.judge import judge_of
from ttrlab.stages.openrlhf_meeting import Meeting, Settled, Ticket
from ttrlab.types import Question, Rollout, RolloutGroup

Value = TypeVar("Value")


class Binding(Frozen):
    """What the generated agent file is bound to: a spec and absolute paths. ``gold`` is the oracle's alone.

    ``done``: steps that are finished; ``patience``: seconds that a phase may last; ``run``: name of this attempt's meeting.
    """

    run: str
    spec: AdaptSpec
    questions: str
    gold: str | None
    judge: str | None
    frozen: str | None
    folder: str
    proofs: str
    done: int
    patience: float

    @model_validator(mode="after")
    def _gold_on_purpose(self) -> "Binding":
        if (self.gold is not None) != self.spec.rule.needs_gold:
            raise ValueError(f"rule {self.spec.rule.rule!r} {'needs' if self.spec.rule.needs_gold else 'must not get'} gold")
        return self


class MeetingPoint(Protocol):
    """See ``Meeting``: in another process for a run, in this one for a test."""

    async def take(self) -> Ticket: ...  # noqa: D102
    async def settle(self, ticket: Ticket, group: RolloutGroup) -> Settled: ...  # noqa: D102
    async def fail(self, message: str) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class RayMeeting:
    """The run's meeting behind its Ray actor."""

    actor: Any

    async def take(self) -> Ticket:
        """See ``Meeting``."""
        return await self.actor.take.remote()

    async def settle(self, ticket: Ticket, group: RolloutGroup) -> Settled:
        """See ``Meeting``."""
        return await self.actor.settle.remote(ticket, group)

    async def fail(self, message: str) -> None:
        """See ``Meeting``."""
        await self.actor.fail.remote(message)


def read_binding(path: Path) -> Binding:
    """The binding behind a generated agent file."""
    return Binding.model_validate_json(path.read_text(encoding="utf-8"))


def judge_in(binding: Binding) -> Judge | None:
    """The judge of a run, None for a rule without one."""
    use_cache(Path(binding.proofs))
    if binding.judge is None or binding.spec.judge is None:
        return None
    frozen = Path(binding.frozen) if binding.frozen else None
    questions = read_questions(Path(binding.questions))
    return judge_of(binding.spec.judge, binding.judge, frozen, questions, Path(binding.folder) / JUDGEMENTS)


def ray_meeting(binding: Binding) -> RayMeeting:
    """The one meeting of the run, started by whichever vLLM worker comes first."""
    import ray

    calls = 4 * binding.spec.training.batch + 16
    actor = ray.remote(Meeting).options(name=binding.run, get_if_exists=True, num_cpus=0, max_concurrency=calls)
    return RayMeeting(
        actor.remote(binding.spec, Path(binding.folder), binding.done, binding.patience, partial(judge_in, binding)),
    )


@dataclass
class _Siblings:
    """The calls of one group. ``params`` is kept so that no other object can get its id meanwhile."""

    params: Any
    joined: int = 0
    left: int = 0
    work: asyncio.Task["_Done"] | None = None


@dataclass(frozen=True)
class _Done:
    """A settled group with the tokens of its prompt."""

    prompt: list[int]
    group: RolloutGroup
    settled: Settled


class GroupAgent:
    """OpenRLHF's agent executor for a group rule; the generated file adds the base class that OpenRLHF asks for."""

    def __init__(self, binding: Binding, meeting: MeetingPoint) -> None:
        self.spec, self.patience, self.meeting = binding.spec, binding.patience, meeting
        self.questions = read_questions(Path(binding.questions))
        self.grade = grader(Path(binding.gold)) if binding.gold else None
        self.siblings: dict[int, _Siblings] = {}
        self.prompter: Prompter | None = None
        use_cache(Path(binding.proofs))

    async def execute(
        self, prompt: str, label: Any, sampling_params: Any, max_length: int, hf_tokenizer: Any, llm_engine: Any, images: Any = None
    ) -> dict[str, Any]:
        """One of a group's N calls. Which question the group is about says the meeting, not ``prompt``, which is a mere ticket.

        RuntimeError when N is not the number of trained roll-outs, when ``label`` holds anything, or when any sibling or group fails.
        """
        if label:
            raise RuntimeError(f"OpenRLHF was given a label ({str(label)[:40]!r}), and a label can be gold; no run of ttrlab has one")
        siblings = self.siblings.setdefault(id(sampling_params), _Siblings(sampling_params))
        slot = siblings.joined
        siblings.joined += 1
        await asyncio.sleep(0)  # gather has started all siblings after this
        if siblings.work is None:
            siblings.work = asyncio.create_task(self._guarded(siblings, hf_tokenizer, llm_engine))
        try:
            done = await siblings.work
        finally:
            siblings.left += 1
            if siblings.left == siblings.joined:
                del self.siblings[id(sampling_params)]
        return _response(prompt, label, images, done, slot)

    async def _guarded(self, siblings: _Siblings, tokenizer: Any, engine: Any) -> _Done:
        """The group's work; a failure is told to the meeting first, so that groups in other workers do not wait for this one."""
        try:
            if siblings.joined != self.spec.training.train:
                raise RuntimeError(f"a group came with {siblings.joined} roll-outs, expected train={self.spec.training.train}")
            return await self._group(siblings.params, tokenizer, engine)
        except Exception as error:
            await self.meeting.fail(f"{type(error).__name__}: {error}")
            raise

    async def _group(self, params: Any, tokenizer: Any, engine: Any) -> _Done:
        spec = self.spec
        self.prompter = self.prompter or Prompter(tokenizer, spec.prompt, spec.kind)
        ticket = await self.meeting.take()
        question = self.questions[ticket.row]
        prompt = self.prompter.tokens(question, spec.sampling.max_prompt_tokens)
        drawing = asyncio.gather(*(self._draw(self.prompter, prompt, params, ticket, vote, engine) for vote in range(spec.training.votes)))
        rollouts = await self._patient(drawing, "sampling", question)
        forming = asyncio.to_thread(form_group, question, rollouts, spec.kind, spec.rule.needs, ticket.seed, self.grade)
        group = await self._patient(forming, "grading", question)
        return _Done(prompt, group, await self.meeting.settle(ticket, group))

    async def _patient(self, work: Awaitable[Value], phase: str, question: Question) -> Value:
        """RuntimeError with the phase and the question when ``work`` lasts too long."""
        try:
            return await asyncio.wait_for(work, self.patience)
        except TimeoutError:
            raise RuntimeError(f"question {question.id!r}: the phase {phase!r} lasts longer than {self.patience:g} s") from None

    async def _draw(self, prompter: Prompter, prompt: Sequence[int], params: Any, ticket: Ticket, vote: int, engine: Any) -> Rollout:
        """One roll-out with its reduced log-probs; votes beyond the trained ones are drawn here, too, and never leave this worker."""
        wanted = deepcopy(params)
        wanted.logprobs, wanted.seed = TOP_K, stream(ticket.seed, "rollout", vote)
        wanted.top_k, wanted.min_tokens = self.spec.sampling.top_k or -1, 0
        output = (await engine.generate(list(prompt), wanted)).outputs[0]
        ids = tuple(output.token_ids)
        logprobs, confidences = token_numbers(output.logprobs, ids)
        return Rollout(
            text=prompter.text(ids),  # vLLM's own text still has the special tokens
            token_ids=ids,
            logprobs=np.array(logprobs, dtype=np.float32),
            truncated=output.finish_reason == "length",
            token_stats={"topk_confidence": np.array(confidences, dtype=np.float32)},
            step_ends=prompter.steps(ids),
        )


def _response(prompt: str, label: Any, images: Any, done: _Done, slot: int) -> dict[str, Any]:
    """What OpenRLHF expects of one call. ``scores`` is the rule's reward; the reward it trains on is the advantage."""
    rollout, settled = done.group.rollouts[slot], done.settled
    return {
        "prompt": prompt,
        "label": label,
        "images": images,
        "mm_train_inputs": None,
        "observation_tokens": [*done.prompt, *rollout.token_ids],
        "action_ranges": [(len(done.prompt), len(done.prompt) + len(rollout.token_ids))],
        "rollout_log_probs": None,
        "truncated": rollout.truncated,
        "reward": float(settled.advantages[slot]),
        "scores": float(settled.rewards[slot]),
        "extra_logs": {
            "rule/reward": float(settled.rewards[slot]),
            "rule/weight": settled.weight,
            "rule/abstained": float(settled.abstained),
        },
    }
