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
from ttrlab.types import Question


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
        """Micro-batches of at most ``size`` distinct sequences; those without an advantage last, so that they can be left out together."""
        for wanted in (True, False):
            chosen: list[int] = []
            seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
            for row in [row for row in range(len(self.rows)) if bool(self.advantages[row]) == wanted]:
                sequence = (self.prompts[row], self.responses[row])
                if len(seen) == size and sequence not in seen:
                    yield self._taken(chosen)
                    chosen, seen = [], set()
                chosen.append(row)
                seen.add(sequence)
            if chosen:
                yield self._taken(chosen)

    def _taken(self, chosen: list[int]) -> "Sequences":
        return Sequences(
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


def targets_of(questions: Sequence[Question], targets: Sequence[str], prompter: Prompter) -> Sequences:
    """Written responses to learn by heart, the end of sequence appended; each has the advantage 1."""
    prompts = tuple(tuple(prompter.tokens(question, sys.maxsize)) for question in questions)
    responses = tuple(prompter.target(target) for target in targets)
    if len(prompts) != len(responses):
        raise ValueError(f"{len(prompts)} questions, but {len(responses)} targets")
    return Sequences(prompts, responses, torch.ones(len(prompts)), tuple(range(len(prompts))))


def right_padded(responses: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """(B, T) token ids, padded on the right with token 0."""
    longest = max(map(len, responses))
    return torch.tensor([list(response) + [0] * (longest - len(response)) for response in responses], device=device)


def response_logprobs(model: Any, batch: Sequences, temperature: float) -> Tensor:
    """(B, longest) log-probs in nats of the response tokens under softmax(logits / temperature); padding positions hold junk.

    Equal sequences run through the model once: in the small worlds of the lab most roll-outs of a question are.
    """
    pairs = list(zip(batch.prompts, batch.responses, strict=True))
    distinct = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    logprobs = _logprobs(model, [prompt for prompt, _ in distinct], [response for _, response in distinct], temperature)
    return logprobs if len(distinct) == len(pairs) else logprobs[[distinct[pair] for pair in pairs]]


def _logprobs(model: Any, prompts: Sequence[tuple[int, ...]], responses: Sequence[tuple[int, ...]], temperature: float) -> Tensor:
    """See ``response_logprobs``. Every distinct prompt runs through the model once, too.

    Its keys and values are repeated for its responses, and the gradients of all of them add up there, so the gradient is that of whole
    sequences. Prompts are padded on the left, and responses on the right, where a causal model does not look.
    """
    device = model.device
    distinct = {prompt: place for place, prompt in enumerate(dict.fromkeys(prompts))}
    owner = torch.tensor([distinct[prompt] for prompt in prompts], device=device)
    ids, mask = left_padded(list(distinct), device)
    padded = not bool(mask.all())
    cache: Any = DynamicCache()
    first = model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1, **visible(mask, padded, ids.shape[1])).logits
    tokens = right_padded(responses, device)
    opening = (first[:, -1].float() / temperature).log_softmax(dim=-1)[owner, tokens[:, 0]][:, None]
    new = tokens.shape[1] - 1
    if not new:
        return opening
    cache.reorder_cache(owner)
    known = torch.cat([mask[owner], mask.new_ones(len(owner), new)], dim=1)
    rest = model(input_ids=tokens[:, :-1], cache=cache, use_cache=True, **visible(known, padded, new)).logits
    scaled = rest.float().div_(temperature)  # in place: logits are the largest tensor of all
    following = -functional.cross_entropy(scaled.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    return torch.cat([opening, following.view(len(owner), new)], dim=1)
