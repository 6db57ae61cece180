"""The frozen data that every layer shares: questions, roll-outs, groups of roll-outs, reward decisions.

None of these types has a field for a gold answer. Gold lives in files of its own and is joined by question id after decisions are made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

NO_ANSWER = -1
"""Class id of a roll-out from which no answer could be extracted. It is never votable."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Question:
    """One unlabelled question: ``id`` is unique in its benchmark, ``prompt`` is the problem text before any chat template."""

    id: str
    prompt: str

    def __post_init__(self) -> None:
        if not self.id or not self.prompt.strip():
            raise ValueError(f"question needs a non-empty id and prompt, got id={self.id!r}, prompt={self.prompt!r}")


@dataclass(frozen=True, slots=True)
class Rollout:
    """One sampled response of T tokens, EOS included where it was sampled.

    ``logprobs`` (T,) float32: log-probabilities in nats of the sampled tokens at temperature 1.
    ``token_stats``: name -> (T,) float32 numbers per token (``topk_confidence``, ``entropy``, ``self_certainty``); never top-k lists.
    ``step_ends``: indices (exclusive) at which a reasoning step ends, the last equals T; None where the engine does not know.
    ``truncated``: the length limit was reached before EOS.
    """

    text: str
    token_ids: tuple[int, ...] = ()
    logprobs: NDArray[np.float32] | None = None
    answer: str | None = None
    truncated: bool = False
    token_stats: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    step_ends: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        length = len(self.token_ids)
        if self.logprobs is not None and self.logprobs.shape != (length,):
            raise ValueError(f"logprobs has shape {self.logprobs.shape}, expected ({length},): one per token of token_ids")
        for name, values in self.token_stats.items():
            if values.shape != (length,):
                raise ValueError(f"token_stats[{name!r}] has shape {values.shape}, expected ({length},): one per token")
        if self.step_ends is not None and length and (not self.step_ends or self.step_ends[-1] != length):
            raise ValueError(f"step_ends is {self.step_ends}, expected to end with the number of tokens, {length}")


@dataclass(frozen=True, slots=True)
class RolloutGroup:
    """The n roll-outs of one question in sampling order, with their answer classes.

    ``answer_class`` (n,) int64: ids numbered by first appearance, ``NO_ANSWER`` where nothing was extracted.
    ``signals``: name -> (n,) or (n, n) array, only those that the rule asked for.
    ``seed``: base seed of every random draw that a rule makes for this group; with ``question.id`` it names the stream.
    """

    question: Question
    rollouts: tuple[Rollout, ...]
    answer_class: IntArray
    signals: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        n = len(self.rollouts)
        if n == 0:
            raise ValueError(f"question {self.question.id!r}: a group needs at least one roll-out")
        if self.answer_class.shape != (n,) or self.answer_class.dtype != np.int64:
            raise ValueError(
                f"question {self.question.id!r}: answer_class is {self.answer_class.dtype}{self.answer_class.shape}, expected int64({n},)"
            )
        firsts = list(dict.fromkeys(int(c) for c in self.answer_class if c != NO_ANSWER))
        if firsts != list(range(len(firsts))):
            raise ValueError(f"question {self.question.id!r}: class ids must be numbered by first appearance, got {firsts}")
        for name, values in self.signals.items():
            if values.shape not in ((n,), (n, n)):
                raise ValueError(f"question {self.question.id!r}: signal {name!r} has shape {values.shape}, expected ({n},) or ({n}, {n})")

    @property
    def n(self) -> int:
        """Number of roll-outs."""
        return len(self.rollouts)

    @property
    def n_classes(self) -> int:
        """Number of distinct answers, unparsed roll-outs aside."""
        return int(self.answer_class.max()) + 1

    @property
    def parsed(self) -> NDArray[np.bool_]:
        """(n,) True where an answer was extracted."""
        return self.answer_class != NO_ANSWER

    @property
    def counts(self) -> IntArray:
        """(n_classes,) votes per class."""
        return np.bincount(self.answer_class[self.parsed], minlength=self.n_classes).astype(np.int64)

    def signal(self, name: str) -> NDArray[np.generic]:
        """The named signal; KeyError that lists what is there when the caller did not compute it; ValueError when a number is NaN
        where NaN has no meaning (every signal except ``judge_score``)."""
        if name not in self.signals:
            raise KeyError(f"question {self.question.id!r}: signal {name!r} is missing, the group has {sorted(self.signals)}")
        values = self.signals[name]
        if name != "judge_score" and np.issubdtype(values.dtype, np.floating) and not np.isfinite(values).all():
            where = np.argwhere(~np.isfinite(values))[0].tolist()
            raise ValueError(f"question {self.question.id!r}: signal {name!r} is not finite at {where}")
        return values


@dataclass(frozen=True, slots=True)
class RewardDecision:
    """What a rule decided about one group.

    ``rewards`` (n,) float64 in sampling order; ``pseudo_label`` class id or None; ``labels`` (n,) int64 where each roll-out has a label of
    its own (SCOPE); ``weight`` >= 0 multiplies the policy loss of the question and never the KL term; ``abstained``: no label is
    trusted, every advantage is 0; ``stats`` scalars for the step record; ``per_rollout`` name -> (n,) numbers that a viewer shows.
    """

    rewards: FloatArray
    pseudo_label: int | None
    labels: IntArray | None = None
    weight: float = 1.0
    abstained: bool = False
    stats: Mapping[str, float] = field(default_factory=dict)
    per_rollout: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = self.rewards.shape[0]
        if self.rewards.shape != (n,) or self.rewards.dtype != np.float64:
            raise ValueError(f"rewards is {self.rewards.dtype}{self.rewards.shape}, expected float64(n,)")
        if not np.isfinite(self.rewards).all():
            raise ValueError(f"rewards must be finite, got {self.rewards.tolist()}")
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise ValueError(f"weight must be finite and >= 0, got {self.weight}")
        if self.abstained and self.rewards.any():
            raise ValueError("an abstaining decision rewards nothing, got non-zero rewards")
        for name, values in (
            *self.per_rollout.items(),
            *([("labels", self.labels)] if self.labels is not None else []),
        ):
            if values.shape != (n,):
                raise ValueError(f"{name} has shape {values.shape}, expected ({n},)")
