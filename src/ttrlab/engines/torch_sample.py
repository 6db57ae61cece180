"""Sampling with a KV cache: each prompt is encoded once, roll-outs share the cache for as long as their texts are the same, finished
ones leave the batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ttrlab.config.settings import Sampling
from ttrlab.engines.base import TOP_K
from ttrlab.engines.torch_cache import RoomyCache

COMPACT_BELOW = 0.75
"""Finished rows are dropped when fewer than this share of the rows still runs: the cache is copied then."""


@dataclass(frozen=True)
class Drawn:
    """One roll-out of T tokens, EOS included: ``logprobs`` (T,) at temperature 1; ``stats``: name -> (T,); ``finished``: it stopped."""

    tokens: tuple[int, ...]
    logprobs: NDArray[np.float32]
    stats: Mapping[str, NDArray[np.float32]]
    finished: bool


def left_padded(prompts: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """(B, P) token ids and attention mask, padded on the left with token 0, which the mask hides."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts], device=device)
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=device)
    return ids, mask


def visible(mask: Tensor, padded: bool, new: int) -> dict[str, Tensor]:
    """What a model must be told about the last ``new`` columns of ``mask`` (B, T): nothing where no prompt is padded."""
    return {"attention_mask": mask, "position_ids": (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -new:]} if padded else {}


def choose(logits: Tensor, sampling: Sampling, uniform: Tensor, text: Tensor) -> Tensor:
    """(B,) token ids by inverse transform: the first id whose cumulated probability exceeds ``uniform`` (B,) in [0, 1).

    ``logits`` (S, V) at temperature 1 of S texts; ``text`` (B,) the one that each row continues. Temperature 0 is argmax. top-k, then
    top-p, cut the distribution as in the field's samplers: top-p keeps the smallest set of most probable tokens whose mass reaches p.
    """
    if sampling.temperature == 0:
        return logits.argmax(dim=-1)[text]
    scaled = logits / sampling.temperature
    if sampling.top_k and sampling.top_k < scaled.shape[-1]:
        threshold = scaled.topk(sampling.top_k, dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < threshold, -torch.inf)
    probability = scaled.softmax(dim=-1)
    if sampling.top_p < 1:
        ordered, order = probability.sort(dim=-1, descending=True, stable=True)
        outside = ordered.cumsum(dim=-1) - ordered >= sampling.top_p
        probability = probability.masked_fill(torch.empty_like(outside).scatter_(1, order, outside), 0.0)
    cumulated = probability.cumsum(dim=-1, dtype=torch.float64)[text]
    target = uniform[:, None] * cumulated[:, -1:]
    return torch.searchsorted(cumulated, target, right=True)[:, 0].clamp(max=logits.shape[-1] - 1)


def token_numbers(logits: Tensor, logprobs: Tensor, stats: frozenset[str]) -> dict[str, Tensor]:
    """name -> (B,) of the asked numbers of the next-token distribution; ``logprobs`` (B, V) = log_softmax of ``logits``."""
    numbers: dict[str, Tensor] = {}
    if "topk_confidence" in stats:
        numbers["topk_confidence"] = -logprobs.topk(min(TOP_K, logprobs.shape[-1]), dim=-1, sorted=False).values.mean(dim=-1)
    if "entropy" in stats:
        numbers["entropy"] = -(logprobs.exp() * logprobs).sum(dim=-1)
    if "self_certainty" in stats:
        numbers["self_certainty"] = logits.logsumexp(dim=-1) - logits.mean(dim=-1)
    return numbers


class Record:
    """What is kept of B rows while they are drawn: (B, T) tokens and numbers, of which row i's first ``lengths[i]`` are its own."""

    def __init__(self, rows: int, sampling: Sampling, stats: frozenset[str], device: torch.device) -> None:
        shape = (rows, sampling.max_new_tokens)
        self.tokens = torch.zeros(shape, dtype=torch.int64, device=device)
        self.numbers = {name: torch.zeros(shape, device=device) for name in ("logprobs", *sorted(stats))}
        self.lengths = torch.zeros(rows, dtype=torch.int64, device=device)
        self.finished = torch.zeros(rows, dtype=torch.bool, device=device)

    def write(self, rows: Tensor, chosen: Tensor, numbers: Mapping[str, Tensor], stops: Tensor, place: int) -> None:
        """Note the tokens ``chosen`` (R,) for ``rows`` (R,) at position ``place``; what a finished row draws lies beyond its length."""
        self.tokens[rows, place] = chosen
        for name, values in numbers.items():
            self.numbers[name][rows, place] = values
        self.lengths[rows[~self.finished[rows]]] = place + 1
        self.finished[rows] |= torch.isin(chosen, stops)

    def drawn(self) -> list[Drawn]:
        """One ``Drawn`` a row."""
        tokens, finished = self.tokens.tolist(), self.finished.tolist()
        numbers = {name: values.cpu().numpy() for name, values in self.numbers.items()}
        return [
            Drawn(
                tuple(tokens[row][:length]),
                numbers["logprobs"][row, :length].copy(),
                {name: values[row, :length].copy() for name, values in numbers.items() if name != "logprobs"},
                finished[row],
            )
            for row, length in enumerate(self.lengths.tolist())
        ]


def continued(text: Tensor, chosen: Tensor, vocabulary: int) -> tuple[Tensor, Tensor, Tensor]:
    """(parents (S,), tokens (S,), text (B,)): the S distinct continuations of texts ``text`` (B,) by ``chosen`` (B,), ordered by parent."""
    pairs, place = torch.unique(text * vocabulary + chosen, return_inverse=True)
    return pairs // vocabulary, pairs % vocabulary, place


@torch.no_grad()
def draw(
    model: Any,
    prompts: Sequence[Sequence[int]],
    n: int,
    sampling: Sampling,
    seeds: Sequence[int],
    stops: frozenset[int],
    stats: frozenset[str],
) -> list[list[Drawn]]:
    """n roll-outs of each prompt. Prompt i draws from a generator of its own, ``seeds[i]``, one uniform a roll-out and position.

    So a prompt's roll-outs do not depend on what else is in the call, up to the rounding of batches of another shape.
    """
    device = model.device
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    ends = torch.tensor(sorted(stops), device=device)
    ids, mask = left_padded(prompts, device)
    padded = not bool(mask.all())
    cache = RoomyCache(model.config.num_hidden_layers)
    output = model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1, **visible(mask, padded, ids.shape[1]))
    rows = torch.arange(len(prompts) * n, device=device)
    record = Record(len(rows), sampling, stats, device)
    text = rows // n  # row -> place of its text so far in the cache
    for place in range(sampling.max_new_tokens):
        logits = output.logits[:, -1].float()
        logprobs = logits.log_softmax(dim=-1)
        uniforms = torch.cat([torch.rand(n, generator=generator, dtype=torch.float64) for generator in generators]).to(device)
        chosen = choose(logits, sampling, uniforms[rows], text)
        numbers = {name: values[text] for name, values in token_numbers(logits, logprobs, stats).items()}
        record.write(rows, chosen, {"logprobs": logprobs[text, chosen], **numbers}, ends, place)
        running = (~record.finished[rows]).nonzero()[:, 0]
        if not len(running) or place + 1 == sampling.max_new_tokens:
            break
        if len(running) < COMPACT_BELOW * len(rows):
            rows, chosen, text = rows[running], chosen[running], text[running]
        parents, tokens, text = continued(text, chosen, logits.shape[-1])
        if not torch.equal(parents, torch.arange(len(mask), device=device)):
            cache.take(parents)
            mask = mask[parents]
        mask = torch.cat([mask, mask.new_ones(len(tokens), 1)], dim=1)
        output = model(input_ids=tokens[:, None], cache=cache, use_cache=True, **visible(mask, padded, 1))
    drawn = record.drawn()
    return [drawn[i * n : (i + 1) * n] for i in range(len(prompts))]
