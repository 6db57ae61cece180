"""Sampling with vLLM's offline engine: evaluation, source data and judging of models that one forward loop is too slow for.

Never run here against vLLM itself or on a GPU: the tests have a stand-in with its interface, and check the reduction of its log-probs.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ttrlab.config.catalogue import AnswerKind, PromptStyle
from ttrlab.config.settings import Sampling
from ttrlab.engines.base import TOP_K
from ttrlab.engines.prompts import Prompter
from ttrlab.types import Question, Rollout


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


class VllmSampler:
    """See ``Sampler``; gives log-probs and ``topk_confidence``."""

    def __init__(self, model: str, revision: str | None, prompt: PromptStyle, kind: AnswerKind, tensor_parallel: int = 1) -> None:
        from vllm import LLM

        self.engine = LLM(
            model=model,
            revision=revision,
            max_logprobs=TOP_K,
            logprobs_mode="raw_logprobs",  # at temperature 1, before top-k and top-p
            tensor_parallel_size=tensor_parallel,
            enable_prefix_caching=True,
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
        self.engine.reset_prefix_cache()
