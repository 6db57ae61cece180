"""What an engine offers: sample roll-outs, update a policy, keep checkpoints. Nothing here imports torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ttrlab.config.settings import Sampling
from ttrlab.types import FloatArray, Question, Rollout

TOKEN_STATS = ("topk_confidence", "entropy", "self_certainty")
"""Per-token numbers that an engine may be asked for: -mean of the top-20 log-probs; Shannon entropy in nats; logsumexp(z) - mean(z)."""

TOP_K = 20
"""k of ``topk_confidence`` (DeepConf's value)."""


@dataclass(frozen=True, slots=True)
class TrainingGroup:
    """The trained roll-outs of one question, with one advantage each: ``advantages`` (n,) float64, weight already applied."""

    question: Question
    rollouts: tuple[Rollout, ...]
    advantages: FloatArray


class Sampler(Protocol):
    """Draws roll-outs."""

    def sample(
        self, questions: Sequence[Question], n: int, sampling: Sampling, seeds: Sequence[int], stats: frozenset[str]
    ) -> list[tuple[Rollout, ...]]:
        """n roll-outs a question, in question order.

        ``seeds``: one a question; equal seed, question and weights give equal roll-outs whatever else is in the call. ``stats``: which of
        ``TOKEN_STATS`` to attach. Log-probs are always attached, at temperature 1 whatever the sampling temperature. ValueError names a
        question whose prompt is longer than ``sampling.max_prompt_tokens``.
        """

    def prompt_tokens(self, text: str) -> int:
        """Tokens of a user turn once it is a prompt."""


class Trainer(Protocol):
    """Updates a policy by GRPO and keeps its state."""

    def update(self, groups: Sequence[TrainingGroup], temperature: float) -> Mapping[str, float]:
        """One step over a batch (all its mini-batches and epochs). Returns floats for the step record, ``grad_norm``, ``policy_loss``,
        ``learning_rate``, ``clip_fraction``, ``updates`` among them, and ``kl`` where there is a KL term."""

    def save_checkpoint(self, folder: Path) -> None:
        """Write the policy in Hugging Face form (adapters merged) into the empty or absent ``folder``."""

    def save_state(self, folder: Path) -> None:
        """Write all that resuming needs: policy, optimiser, schedule, random state."""

    def load_state(self, folder: Path) -> None:
        """Continue from ``save_state``; ValueError when the folder was written for another architecture or optimiser."""


class Policy(Sampler, Trainer, Protocol):
    """An engine that samples from the policy it trains."""
