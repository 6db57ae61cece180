"""Sequences ready for a forward pass, and the log-probs of their response tokens."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import DynamicCache

from ttrlab.engines.base import TrainingGroup
from ttrlab.engines.loss import token_weights
from ttrlab.engines.prompts import Prompter
from ttrlab.engines.torch_sample import left_padded, visible


@dataclass(frozen=True)
class Sequences:
    """B prompts with one response and one advantage each; ``rows``: their places in the mini-batch that they are a part of."""

    prompts: tuple[tuple[int, ...], ...]
    responses: tuple[tuple[int, ...], ...]
    advantages: Tensor
    rows: tuple[int, ...]

    @property
    def longest(self) -> int:
        """Tokens of the longest response."""
        return max(map(len, self.responses))

    def weights(self, aggregation: str) -> Tensor:
        """(B, longest) float32 weights of the token losses."""
        lengths = torch.tensor([len(response) for response in self.responses])
        mask = (torch.arange(self.longest)[None, :] < lengths[:, None]).float()
        return token_weights(mask, aggregation, self.longest)

    def parts(self, size: int) -> Iterator["Sequences"]:
        """Micro-batches of at most ``size`` sequences; those without an advantage last, so that they can be left out together."""
        order = sorted(range(len(self.rows)), key=lambda row: not bool(self.advantages[row]))
        active = int((self.advantages != 0).sum())
        for start, end in ((0, active), (active, len(order))):
            for first in range(start, end, size):
                chosen = order[first : min(first + size, end)]
                yield Sequences(
                    tuple(self.prompts[row] for row in chosen),
                    tuple(self.responses[row] for row in chosen),
                    self.advantages[chosen],
                    tuple(self.rows[row] for row in chosen),
                )


def sequences_of(groups: Sequence[TrainingGroup], prompter: Prompter) -> Sequences:
    """The trained roll-outs of a mini-batch, flattened. Roll-outs end at EOS, so nothing after it can enter the loss.

    ValueError names a question with a roll-out that has no tokens.
    """
    prompts, responses, advantages = [], [], []
    for group in groups:
        prompt = tuple(prompter.tokens(group.question, sys.maxsize))
        for rollout, advantage in zip(group.rollouts, group.advantages.tolist(), strict=True):
            if not rollout.token_ids:
                raise ValueError(f"question {group.question.id!r}: a trained roll-out has no tokens")
            prompts.append(prompt)
            responses.append(rollout.token_ids)
            advantages.append(advantage)
    return Sequences(tuple(prompts), tuple(responses), torch.tensor(advantages, dtype=torch.float32), tuple(range(len(prompts))))


def right_padded(responses: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """(B, T) token ids, padded on the right with token 0."""
    longest = max(map(len, responses))
    return torch.tensor([list(response) + [0] * (longest - len(response)) for response in responses], device=device)


def response_logprobs(model: Any, batch: Sequences, temperature: float) -> Tensor:
    """(B, longest) log-probs in nats of the response tokens under softmax(logits / temperature); padding positions hold junk.

    Every distinct prompt runs through the model once. Its keys and values are repeated for its responses, and the gradients of all of
    them add up there, so the gradient is that of B whole sequences. Prompts are padded on the left, and responses on the right, where
    a causal model does not look.
    """
    device = model.device
    distinct = {prompt: place for place, prompt in enumerate(dict.fromkeys(batch.prompts))}
    owner = torch.tensor([distinct[prompt] for prompt in batch.prompts], device=device)
    ids, mask = left_padded(list(distinct), device)
    padded = not bool(mask.all())
    cache: Any = DynamicCache()
    first = model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1, **visible(mask, padded, ids.shape[1])).logits
    responses = right_padded(batch.responses, device)
    opening = (first[:, -1].float() / temperature).log_softmax(dim=-1)[owner, responses[:, 0]][:, None]
    new = responses.shape[1] - 1
    if not new:
        return opening
    cache.reorder_cache(owner)
    known = torch.cat([mask[owner], mask.new_ones(len(owner), new)], dim=1)
    rest = model(input_ids=responses[:, :-1], cache=cache, use_cache=True, **visible(known, padded, new)).logits
    scaled = rest.float() / temperature
    following = -functional.cross_entropy(scaled.flatten(0, 1), responses[:, 1:].flatten(), reduction="none")
    return torch.cat([opening, following.view(len(owner), new)], dim=1)
