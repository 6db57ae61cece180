"""Sampling with a KV cache: each prompt is encoded once, its cache is repeated for its roll-outs, finished rows leave the batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from ttrlab.config.settings import Sampling
from ttrlab.engines.base import TOP_K

COMPACT_BELOW = 0.75
"""Rows are dropped from the cache when fewer than this share of them still runs."""


@dataclass
class Drawn:
    """Tokens of one roll-out as they are drawn, EOS included; ``stats``: name -> one number a token."""

    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    stats: dict[str, list[float]] = field(default_factory=dict)
    finished: bool = False


def left_padded(prompts: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """(B, P) token ids and attention mask, padded on the left with token 0, which the mask hides."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts], device=device)
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=device)
    return ids, mask


def choose(logits: Tensor, sampling: Sampling, uniform: Tensor) -> Tensor:
    """(B,) token ids by inverse transform: the first id whose cumulated probability exceeds ``uniform`` (B,) in [0, 1).

    ``logits`` (B, V) at temperature 1. Temperature 0 is argmax. top-k, then top-p, cut the distribution as in the field's samplers: top-p
    keeps the smallest set of most probable tokens whose mass reaches p.
    """
    if sampling.temperature == 0:
        return logits.argmax(dim=-1)
    scaled = logits / sampling.temperature
    if sampling.top_k and sampling.top_k < scaled.shape[-1]:
        threshold = scaled.topk(sampling.top_k, dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < threshold, -torch.inf)
    probability = scaled.softmax(dim=-1)
    if sampling.top_p < 1:
        ordered, order = probability.sort(dim=-1, descending=True, stable=True)
        outside = ordered.cumsum(dim=-1) - ordered >= sampling.top_p
        probability = probability.masked_fill(outside.gather(1, order.argsort(dim=-1)), 0.0)
    cumulated = probability.double().cumsum(dim=-1)
    target = uniform[:, None] * cumulated[:, -1:]
    return (cumulated <= target).sum(dim=-1).clamp(max=logits.shape[-1] - 1)


def token_numbers(logits: Tensor, logprobs: Tensor, stats: frozenset[str]) -> dict[str, list[float]]:
    """name -> (B,) of the asked numbers of the next-token distribution; ``logprobs`` (B, V) = log_softmax of ``logits``."""
    numbers: dict[str, list[float]] = {}
    if "topk_confidence" in stats:
        numbers["topk_confidence"] = (-logprobs.topk(min(TOP_K, logprobs.shape[-1]), dim=-1).values.mean(dim=-1)).tolist()
    if "entropy" in stats:
        numbers["entropy"] = (-(logprobs.exp() * logprobs).sum(dim=-1)).tolist()
    if "self_certainty" in stats:
        numbers["self_certainty"] = (logits.logsumexp(dim=-1) - logits.mean(dim=-1)).tolist()
    return numbers


@torch.no_grad()
def draw(
    model: PreTrainedModel,
    prompts: Sequence[Sequence[int]],
    n: int,
    sampling: Sampling,
    seeds: Sequence[int],
    stops: frozenset[int],
    stats: frozenset[str],
) -> list[list[Drawn]]:
    """n roll-outs of each prompt. Prompt i draws from a generator of its own, ``seeds[i]``, one uniform a roll-out and position.

    So a prompt's roll-outs do not depend on what else is in the call, up to the rounding of padded batches.
    """
    device = model.device
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    ids, mask = left_padded(prompts, device)
    position = mask.cumsum(dim=1) - 1
    cache = DynamicCache(config=model.config)
    first = model(input_ids=ids, attention_mask=mask, position_ids=position.clamp(min=0), cache=cache, logits_to_keep=1)
    logits = first.logits[:, -1].float().repeat_interleave(n, dim=0)
    cache.batch_repeat_interleave(n)
    mask, place = mask.repeat_interleave(n, dim=0), position[:, -1].repeat_interleave(n)
    drawn = [Drawn() for _ in range(len(prompts) * n)]
    rows = list(range(len(drawn)))
    for length in range(1, sampling.max_new_tokens + 1):
        uniforms = torch.cat([torch.rand(n, generator=generator, dtype=torch.float64) for generator in generators]).to(device)
        chosen = choose(logits, sampling, uniforms[rows])
        logprobs = logits.log_softmax(dim=-1)
        taken = logprobs.gather(1, chosen[:, None])[:, 0].tolist()
        numbers = token_numbers(logits, logprobs, stats)
        tokens = chosen.tolist()
        running = [k for k, row in enumerate(rows) if not drawn[row].finished]
        for k in running:
            result = drawn[rows[k]]
            result.tokens.append(tokens[k])
            result.logprobs.append(taken[k])
            for name, values in numbers.items():
                result.stats.setdefault(name, []).append(values[k])
            result.finished = tokens[k] in stops
        running = [k for k in running if not drawn[rows[k]].finished]
        if not running or length == sampling.max_new_tokens:
            break
        if len(running) < COMPACT_BELOW * len(rows):
            keep = torch.tensor(running, device=device)
            cache.batch_select_indices(keep)
            rows, chosen, mask, place = [rows[k] for k in running], chosen[keep], mask[keep], place[keep]
        mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)
        place = place + 1
        step = model(input_ids=chosen[:, None], attention_mask=mask, position_ids=place[:, None], cache=cache)
        logits = step.logits[:, -1].float()
    return [drawn[i * n : (i + 1) * n] for i in range(len(prompts))]
