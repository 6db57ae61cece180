"""The one-machine engine: a Hugging Face causal LM on the CPU or one CUDA GPU that samples from the policy it trains."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.utils import logging

from ttrlab.config.catalogue import AnswerKind, PromptStyle
from ttrlab.config.settings import Sampling, Training
from ttrlab.engines.base import TrainingGroup
from ttrlab.engines.loss import kl_loss, learning_rate, policy_loss
from ttrlab.engines.prompts import Prompter
from ttrlab.engines.torch_sample import Drawn, draw
from ttrlab.engines.torch_score import Sequences, response_logprobs, sequences_of
from ttrlab.types import Question, Rollout

logging.disable_progress_bar()
CACHE_BYTES = 2 << 30
"""Memory for keys, values and logits of the roll-outs that are sampled together."""


class TorchPolicy:
    """Samples, and trains when ``training`` is given. ``updates``: the length of the learning-rate schedule.

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
    ) -> None:
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dtype = getattr(torch, training.dtype) if training else torch.float32
        where: dict[str, str] = {"revision": revision} if revision else {}
        self.tokenizer = AutoTokenizer.from_pretrained(model, **where)
        self.prompter = Prompter(self.tokenizer, prompt, kind)
        loaded: Any = AutoModelForCausalLM.from_pretrained(model, dtype=dtype, **where)
        self.model: Any = loaded.to(self.device).eval()
        self.stops = stop_tokens(self.model, self.tokenizer)
        self.training, self.updates, self.done = training, updates, 0
        if training is not None:
            self._prepare_training(training)

    def _prepare_training(self, training: Training) -> None:
        self.reference: Any = copy.deepcopy(self.model).requires_grad_(False) if training.kl_coefficient and not training.lora else None
        if training.lora:
            self.model = with_adapters(self.model, training)
        self.parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimiser = torch.optim.AdamW(
            self.parameters, lr=training.learning_rate, betas=training.betas, weight_decay=training.weight_decay
        )

    def sample(
        self, questions: Sequence[Question], n: int, sampling: Sampling, seeds: Sequence[int], stats: frozenset[str]
    ) -> list[tuple[Rollout, ...]]:
        """See ``Sampler``. Questions are sampled together as far as the cache's memory allows."""
        prompts = [self.prompter.tokens(question, sampling.max_prompt_tokens) for question in questions]
        longest = max(map(len, prompts)) + sampling.max_new_tokens
        together = max(1, CACHE_BYTES // (n * sequence_bytes(self.model.config, longest)))
        groups: list[tuple[Rollout, ...]] = []
        for start in range(0, len(prompts), together):
            chunk = slice(start, start + together)
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
        """See ``Trainer``. Log-probs are those of the sampling distribution (logits / temperature), as in verl.

        The old log-probs are the policy's own before the first update: with one update a batch the ratio is exactly 1, otherwise a pass
        without gradient fixes them. A sequence whose advantage is 0 has no gradient unless the KL term is on, and is left out.
        """
        training = self.training
        if training is None:
            raise RuntimeError("this policy was opened for sampling only")
        temperature = temperature or 1.0
        size = training.mini_batch or len(groups)
        batches = [sequences_of(groups[start : start + size], self.prompter) for start in range(0, len(groups), size)]
        several = training.epochs * len(batches) > 1
        old = [self._logprobs(self.model, batch, temperature) if several else None for batch in batches]
        references = [self._reference(batch, temperature) for batch in batches]
        numbers = [
            self._update(batch, fixed, reference, temperature, training)
            for _ in range(training.epochs)
            for batch, fixed, reference in zip(batches, old, references, strict=True)
        ]
        return {name: float(np.mean([one[name] for one in numbers])) for name in numbers[0]} | {"updates": float(len(numbers))}

    @torch.no_grad()
    def _logprobs(self, model: PreTrainedModel, batch: Sequences, temperature: float) -> list[Tensor]:
        return [response_logprobs(model, part, temperature) for part in batch.parts(self._micro_batch)]

    def _reference(self, batch: Sequences, temperature: float) -> list[Tensor] | None:
        """Log-probs of the frozen initial policy; None without a KL term."""
        if self.training is None or not self.training.kl_coefficient:
            return None
        if self.reference is not None:
            return self._logprobs(self.reference, batch, temperature)
        with self.model.disable_adapter():
            return self._logprobs(self.model, batch, temperature)

    @property
    def _micro_batch(self) -> int:
        return self.training.micro_batch if self.training else 1

    def _update(
        self, batch: Sequences, old: list[Tensor] | None, reference: list[Tensor] | None, temperature: float, training: Training
    ) -> dict[str, float]:
        """One optimiser update over a mini-batch, in micro-batches whose gradients add up to that of the whole."""
        rate = learning_rate(self.done, self.updates, training)
        self.done += 1
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        totals = {"policy_loss": 0.0, "kl": 0.0, "clip_fraction": 0.0}
        weights = batch.weights(training.aggregation)
        for index, part in enumerate(batch.parts(training.micro_batch)):
            if reference is None and not part.advantages.any():
                continue
            weight = weights[list(part.rows)][:, : part.longest].to(self.device)
            logprob = response_logprobs(self.model, part, temperature)
            before = logprob.detach() if old is None else old[index]
            token_loss, clipped = policy_loss(logprob, before, part.advantages.to(self.device)[:, None], training)
            loss = (weight * token_loss).sum()
            totals["policy_loss"] += float(loss.detach())
            totals["clip_fraction"] += float((weight * clipped).sum())
            if reference is not None:
                kl = (weight * kl_loss(logprob, reference[index], training.kl_estimator)).sum()
                totals["kl"] += float(kl.detach())
                loss = loss + training.kl_coefficient * kl
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, training.grad_clip)
        if any(parameter.grad is not None for parameter in self.parameters):
            self.optimiser.step()
        return {**totals, "grad_norm": float(norm), "learning_rate": rate}

    def save_checkpoint(self, folder: Path) -> None:
        """See ``Trainer``."""
        model = copy.deepcopy(self.model).merge_and_unload() if self.training and self.training.lora else self.model
        model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def save_state(self, folder: Path) -> None:
        """See ``Trainer``: trainable parameters, optimiser, schedule position, random state."""
        names = [name for name, parameter in self.model.named_parameters() if parameter.requires_grad]
        state = {
            "parameters": dict(zip(names, (parameter.detach() for parameter in self.parameters), strict=True)),
            "optimiser": self.optimiser.state_dict(),
            "done": self.done,
            "random": torch.get_rng_state(),
        }
        torch.save(state, folder / "state.pt")

    def load_state(self, folder: Path) -> None:
        """See ``Trainer``."""
        state = torch.load(folder / "state.pt", map_location=self.device, weights_only=True)
        own = {name: parameter for name, parameter in self.model.named_parameters() if parameter.requires_grad}
        if own.keys() != state["parameters"].keys() or any(own[name].shape != value.shape for name, value in state["parameters"].items()):
            raise ValueError(f"{folder}: the state was written for another architecture than {self.model.config.model_type}")
        with torch.no_grad():
            for name, value in state["parameters"].items():
                own[name].copy_(value)
        self.optimiser.load_state_dict(state["optimiser"])
        self.done = state["done"]
        torch.set_rng_state(state["random"].cpu())


def with_adapters(model: PreTrainedModel, training: Training) -> Any:
    """The model with low-rank adapters on all linear layers (LoRA, arXiv:2106.09685)."""
    from peft import LoraConfig, get_peft_model

    assert training.lora is not None
    lora = training.lora
    config = LoraConfig(r=lora.rank, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules="all-linear", task_type="CAUSAL_LM")
    return get_peft_model(model, config)


def stop_tokens(model: PreTrainedModel, tokenizer: Any) -> frozenset[int]:
    """Every token that ends a response: the tokenizer's and all that the generation config names."""
    named = model.generation_config.eos_token_id if model.generation_config is not None else None
    listed = named if isinstance(named, list) else [named]
    return frozenset(token for token in [*listed, tokenizer.eos_token_id] if token is not None)


def sequence_bytes(config: Any, length: int) -> int:
    """Bytes of keys, values and next-token logits of one sequence of ``length`` tokens in float32."""
    heads = config.num_key_value_heads
    width = config.head_dim if hasattr(config, "head_dim") and config.head_dim else config.hidden_size // config.num_attention_heads
    return 4 * (2 * config.num_hidden_layers * heads * width * length + 8 * config.vocab_size)
