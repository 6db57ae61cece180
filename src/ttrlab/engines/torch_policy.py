"""The one-machine engine: a Hugging Face causal LM on the CPU or one CUDA GPU that samples from the policy it trains."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoTokenizer
from transformers.utils import logging

from ttrlab.config.catalogue import AnswerKind, PromptStyle
from ttrlab.config.settings import Sampling, Training
from ttrlab.engines.base import TrainingGroup
from ttrlab.engines.loss import kl_loss, learning_rate, policy_loss
from ttrlab.engines.prompts import Prompter
from ttrlab.engines.torch_model import check_context, dropout, load_model, stop_tokens, together, trained, with_adapters
from ttrlab.engines.torch_sample import Drawn, draw
from ttrlab.engines.torch_score import Sequences, response_logprobs, sequences_of, targets_of
from ttrlab.types import Question, Rollout

logging.disable_progress_bar()
SETTINGS = {"learning_rate", "schedule", "warmup_ratio", "warmup_steps", "betas", "weight_decay", "lora"}
"""Training settings that a saved state must share with the run that resumes from it."""


class TorchPolicy:
    """Samples, and trains when ``training`` is given.

    ``updates``: the length of the learning-rate schedule. ``reference``: model and revision of the KL term, where that is not ``model``
    itself: a continued run is held to the model that the first one began with.
    On the CPU, with the same number of threads, equal seeds give equal bytes; on a GPU kernels may differ in the last digits.
    """

    def __init__(
        self,
        model: str,
        revision: str | None,
        prompt: PromptStyle,
        kind: AnswerKind,
        *,
        seed: int = 0,
        training: Training | None = None,
        updates: int = 0,
        reference: tuple[str, str | None] | None = None,
    ) -> None:
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        where: dict[str, str] = {"revision": revision} if revision else {}
        self.tokenizer = AutoTokenizer.from_pretrained(model, **where)
        self.prompter = Prompter(self.tokenizer, prompt, kind)
        self.model = load_model(model, revision, training)
        self.stops = stop_tokens(self.model, self.tokenizer)
        self.training, self.updates, self.done = training, updates, 0
        if training is not None:
            self._prepare_training(training, reference)

    def _prepare_training(self, training: Training, reference: tuple[str, str | None] | None) -> None:
        """Reference, adapters and optimiser. With adapters the reference is the model without them, unless another is given."""
        self.reference: Any = None
        if training.kl_coefficient and reference is not None:
            self.reference = load_model(*reference, training).requires_grad_(False)
        elif training.kl_coefficient and not training.lora:
            self.reference = copy.deepcopy(self.model).requires_grad_(False)
        if training.lora:
            self.model = with_adapters(self.model, training.lora)
        self.parameters = list(trained(self.model).values())
        self.optimiser = torch.optim.AdamW(
            self.parameters, lr=training.learning_rate, betas=training.betas, weight_decay=training.weight_decay, fused=True
        )

    def sample(
        self, questions: Sequence[Question], n: int, sampling: Sampling, seeds: Sequence[int], stats: frozenset[str]
    ) -> list[tuple[Rollout, ...]]:
        """See ``Sampler``. Questions are sampled together as far as memory allows.

        ValueError names a question that, with its longest response, exceeds the model's positions.
        """
        prompts = [self.prompter.tokens(question, sampling.max_prompt_tokens) for question in questions]
        check_context(self.model, questions, prompts, sampling.max_new_tokens)
        size = together(self.model, n, max(map(len, prompts), default=0) + sampling.max_new_tokens)
        groups: list[tuple[Rollout, ...]] = []
        for start in range(0, len(prompts), size):
            chunk = slice(start, start + size)
            drawn = draw(self.model, prompts[chunk], n, sampling, seeds[chunk], self.stops, stats)
            groups += [tuple(self._rollout(one) for one in group) for group in drawn]
        return groups

    def _rollout(self, drawn: Drawn) -> Rollout:
        return Rollout(
            text=self.prompter.text(drawn.tokens),
            token_ids=drawn.tokens,
            logprobs=drawn.logprobs,
            truncated=not drawn.finished,
            token_stats=drawn.stats,
            step_ends=self.prompter.steps(drawn.tokens),
        )

    def prompt_tokens(self, text: str) -> int:
        """See ``Sampler``."""
        return self.prompter.count(text)

    def update(self, groups: Sequence[TrainingGroup], temperature: float) -> Mapping[str, float]:
        """See ``Trainer``. Log-probs are those of the sampling distribution (logits / temperature), as in verl; ValueError at 0.

        The old log-probs are the policy's own before the first update: with one update a batch the ratio is exactly 1, otherwise a pass
        without gradient fixes them. A sequence whose advantage is 0 has no gradient unless the KL term is on, and is left out. A
        mini-batch of nothing else moves nothing, neither by momentum nor by weight decay, but the schedule goes on. ``kl`` is reported
        where there is a KL term: nothing else measures it.
        """
        training = self._settings()
        if temperature <= 0:
            raise ValueError(f"roll-outs that are trained on must be sampled at a temperature above 0, got {temperature}")
        size = training.mini_batch or len(groups)
        batches = [sequences_of(groups[start : start + size], self.prompter) for start in range(0, len(groups), size)]
        several = training.epochs * len(batches) > 1
        old = [self._logprobs(self.model, batch, temperature) if several else None for batch in batches]
        references = [self._reference(batch, temperature) if training.kl_coefficient else None for batch in batches]
        numbers = [
            self._update(batch, fixed, reference, temperature)
            for _ in range(training.epochs)
            for batch, fixed, reference in zip(batches, old, references, strict=True)
        ]
        return {name: float(np.mean([one[name] for one in numbers])) for name in numbers[0]} | {"updates": float(len(numbers))}

    def _settings(self) -> Training:
        if self.training is None:
            raise RuntimeError("this policy was opened for sampling only")
        return self.training

    @torch.no_grad()
    def _logprobs(self, model: Any, batch: Sequences, temperature: float) -> list[Tensor]:
        return [response_logprobs(model, part, temperature) for part in batch.parts(self._settings().micro_batch)]

    def _reference(self, batch: Sequences, temperature: float) -> list[Tensor]:
        """Log-probs of the frozen initial policy."""
        if self.reference is not None:
            return self._logprobs(self.reference, batch, temperature)
        with self.model.disable_adapter():
            return self._logprobs(self.model, batch, temperature)

    def _update(self, batch: Sequences, old: list[Tensor] | None, reference: list[Tensor] | None, temperature: float) -> dict[str, float]:
        """One update over a mini-batch, at the schedule's next rate."""
        rate = learning_rate(self.done, self.updates, self._settings())
        self.done += 1
        totals = {"policy_loss": 0.0, "clip_fraction": 0.0} | ({} if reference is None else {"kl": 0.0})
        norm = self._step(rate, self._losses(batch, old, reference, temperature, totals))
        return {**totals, "grad_norm": norm, "learning_rate": rate}

    def _losses(
        self, batch: Sequences, old: list[Tensor] | None, reference: list[Tensor] | None, temperature: float, totals: dict[str, float]
    ) -> Iterator[Tensor]:
        """The loss of each micro-batch, their sum being that of the mini-batch; adds up ``totals`` on the way."""
        training = self._settings()
        weights = batch.weights(training.aggregation)
        for index, part in enumerate(batch.parts(training.micro_batch)):
            if reference is None and not part.advantages.any():
                continue
            weight = weights[list(part.rows)][:, : part.longest].to(self.model.device)
            logprob = response_logprobs(self.model, part, temperature)
            before = logprob.detach() if old is None else old[index]
            token_loss, clipped = policy_loss(logprob, before, part.advantages.to(self.model.device)[:, None], training)
            loss = (weight * token_loss).sum()
            totals["policy_loss"] += float(loss.detach())
            totals["clip_fraction"] += float((weight * clipped).sum())
            if reference is not None:
                kl = (weight * kl_loss(logprob, reference[index], training.kl_estimator)).sum()
                totals["kl"] += float(kl.detach())
                loss = loss + training.kl_coefficient * kl
            yield loss

    def _step(self, rate: float, losses: Iterable[Tensor]) -> float:
        """One optimiser update on the sum of ``losses``, none at all where there are none; returns the gradient's norm before the clip."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        with dropout(self.model):
            for loss in losses:
                loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self._settings().grad_clip)
        if any(parameter.grad is not None for parameter in self.parameters):
            self.optimiser.step()
        return float(norm)

    def supervised_update(self, questions: Sequence[Question], targets: Sequence[str], learning_rate: float) -> Mapping[str, float]:
        """One update on the mean cross-entropy in nats of the targets' tokens, the end of sequence included, prompts masked.

        Shares the optimiser with ``update`` and leaves its schedule where it is. Returns ``loss``, ``grad_norm``, ``learning_rate``.
        """
        batch = targets_of(questions, targets, self.prompter)
        weights = batch.weights("token-mean")
        totals = {"loss": 0.0}

        def losses() -> Iterator[Tensor]:
            for part in batch.parts(self._settings().micro_batch):
                weight = weights[list(part.rows)][:, : part.longest].to(self.model.device)
                loss = -(weight * response_logprobs(self.model, part, 1.0)).sum()
                totals["loss"] += float(loss.detach())
                yield loss

        norm = self._step(learning_rate, losses())
        return {**totals, "grad_norm": norm, "learning_rate": learning_rate}

    def save_checkpoint(self, folder: Path) -> None:
        """See ``Trainer``. Adapters are merged into a copy: the policy itself keeps them apart."""
        model = copy.deepcopy(self.model).merge_and_unload() if self.training and self.training.lora else self.model
        model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def _identity(self) -> dict[str, Any]:
        return self._settings().model_dump(mode="json", include=SETTINGS) | {"updates": self.updates}

    def save_state(self, folder: Path) -> None:
        """See ``Trainer``: trainable parameters, optimiser, schedule position, random state."""
        state = {
            "settings": self._identity(),
            "parameters": {name: parameter.detach() for name, parameter in trained(self.model).items()},
            "optimiser": self.optimiser.state_dict(),
            "done": self.done,
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state_all(),
        }
        torch.save(state, folder / "state.pt")

    def load_state(self, folder: Path) -> None:
        """See ``Trainer``."""
        state = torch.load(folder / "state.pt", map_location="cpu", weights_only=True)
        own, saved = trained(self.model), state["parameters"]
        if {name: value.shape for name, value in own.items()} != {name: value.shape for name, value in saved.items()}:
            raise ValueError(f"{folder}: the state was written for another architecture than {self.model.config.model_type}")
        if state["settings"] != self._identity():
            raise ValueError(f"{folder}: the state was written with other settings, {state['settings']}; expected {self._identity()}")
        with torch.no_grad():
            for name, value in saved.items():
                own[name].copy_(value)
        self.optimiser.load_state_dict(state["optimiser"])
        self.done = state["done"]
        torch.set_rng_state(state["random"])
        torch.cuda.set_rng_state_all(state["random_cuda"])
