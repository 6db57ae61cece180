"""A judge: asked about roll-outs, it gives integer scores. Three homes: a sampler in this process, an HTTP server, stored judgements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ttrlab.config.judge import JudgeLimits
from ttrlab.config.settings import Sampling
from ttrlab.engines.base import Sampler
from ttrlab.files import digest
from ttrlab.rectifier.judgement import UNRESOLVED, read_judgement
from ttrlab.rectifier.prompt import JudgeItem, JudgePrompt
from ttrlab.types import Question, RolloutGroup

__all__ = [
    "CountTokens",
    "Judge",
    "JudgeItem",
    "JudgedItem",
    "SamplerJudge",
    "content_key",
    "eligibility",
    "group_item",
    "item_key",
    "judge_identity",
    "judged",
]

CountTokens = Callable[[str], int]
"""Tokens of a user turn once the engine has put it into its chat template."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One judgement: ``score`` 0..10, or ``UNRESOLVED`` (-1) where the output was malformed or truncated; ``tokens``: output tokens.

    ``fault`` says why a judgement is unresolved, None for a valid one.
    """

    score: int
    reason: str
    tokens: int
    fault: str | None = None

    def __post_init__(self) -> None:
        if (self.score == UNRESOLVED) != (self.fault is not None):
            raise ValueError(f"a judgement is unresolved exactly when it has a fault, got score={self.score}, fault={self.fault!r}")

    @property
    def valid(self) -> bool:
        """True when there is a score."""
        return self.fault is None


class Judge(Protocol):
    """Scores roll-outs. The same identity and item give the same judgement."""

    @property
    def identity(self) -> str:
        """Hash of all that decides a judgement besides the item: rectifier weights, prompt text, limits."""

    def fits(self, item: JudgeItem) -> bool:
        """True when the item's prompt is within the judge's input limit. An item that does not fit must not be judged."""

    def judge(self, items: Sequence[JudgeItem]) -> list[JudgedItem]:
        """One judgement an item, in order. An unresolved judgement is a value; a judge that cannot be reached is an error."""


def judge_identity(rectifier: str, prompt: JudgePrompt, limits: JudgeLimits) -> str:
    """Identity of a greedy judge. ``rectifier``: hash of the frozen weights, or name and revision of a model that is used as it is."""
    return digest({"rectifier": rectifier, "prompt": prompt.hash, "limits": limits.model_dump()})


def item_key(identity: str, item: JudgeItem) -> str:
    """Content key of one judgement."""
    return digest([identity, item.question, item.solution, item.answer])


def content_key(item: JudgeItem) -> str:
    """What an item is known by, whoever judges it."""
    return digest([item.question, item.solution, item.answer])


def judged(text: str, truncated: bool, tokens: int) -> JudgedItem:
    """The judgement that a judge's output text holds."""
    judgement = read_judgement(text, truncated)
    return JudgedItem(judgement.score, judgement.reason, tokens, judgement.fault)


def group_item(group: RolloutGroup, index: int) -> JudgeItem:
    """What a judge is asked about one roll-out; ValueError when it has no answer."""
    rollout = group.rollouts[index]
    if rollout.answer is None:
        raise ValueError(f"question {group.question.id!r}: roll-out {index} has no answer to judge")
    return JudgeItem(question=group.question.prompt, solution=rollout.text, answer=rollout.answer)


def eligibility(group: RolloutGroup, judge: Judge) -> NDArray[np.bool_]:
    """(n,) True where a judge can be asked: an answer was extracted, the roll-out is not truncated, and the judge's prompt fits."""
    rows = zip(group.rollouts, group.parsed.tolist(), strict=True)
    return np.array([parsed and not rollout.truncated and judge.fits(group_item(group, i)) for i, (rollout, parsed) in enumerate(rows)])


@dataclass(frozen=True)
class SamplerJudge:
    """A judge in this process: any engine's sampler, decoded greedily.

    ``rectifier``: hash of the frozen weights behind ``sampler``; ``count``: the sampler's own token count of a prompt.
    """

    sampler: Sampler
    count: CountTokens
    prompt: JudgePrompt
    limits: JudgeLimits
    rectifier: str

    @property
    def identity(self) -> str:
        """See ``Judge``."""
        return judge_identity(self.rectifier, self.prompt, self.limits)

    def fits(self, item: JudgeItem) -> bool:
        """See ``Judge``."""
        return self.count(self.prompt.render(item)) <= self.limits.input_tokens

    def judge(self, items: Sequence[JudgeItem]) -> list[JudgedItem]:
        """All items in one batch of the engine."""
        if not items:
            return []
        questions = [Question(item_key(self.identity, item), self.prompt.render(item)) for item in items]
        greedy = Sampling(temperature=0, max_new_tokens=self.limits.output_tokens, max_prompt_tokens=self.limits.input_tokens)
        sampled = self.sampler.sample(questions, 1, greedy, [0] * len(questions), frozenset())
        return [judged(rollout.text, rollout.truncated, len(rollout.token_ids)) for (rollout,) in sampled]
