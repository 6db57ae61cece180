"""Sequences ready for a forward pass, and the log-probs of their response tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel

from ttrlab.engines.base import TrainingGroup
from ttrlab.engines.loss import token_weights
from ttrlab.engines.prompts import Prompter


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
    """The trained roll-outs of a mini-batch, flattened. Roll-outs end at EOS, so nothing after it can enter the loss."""
    flat = [
        (tuple(prompter.tokens(group.question, 1 << 30)), rollout.token_ids, advantage)
        for group in groups
        for rollout, advantage in zip(group.rollouts, group.advantages.tolist(), strict=True)
    ]
    prompts, responses, advantages = zip(*flat, strict=True)
    return Sequences(prompts, responses, torch.tensor(advantages, dtype=torch.float32), tuple(range(len(flat))))


def response_logprobs(model: PreTrainedModel, batch: Sequences, temperature: float) -> Tensor:
    """(B, longest) log-probs in nats of the response tokens under softmax(logits / temperature); padding positions hold junk.

    Prompts are padded on the left and responses on the right, so responses start in one column. Prompts of one length need no mask:
    a causal model does not look at what stands to the right.
    """
    before = max(map(len, batch.prompts))
    after = batch.longest
    rows = [
        [0] * (before - len(prompt)) + list(prompt) + list(response) + [0] * (after - len(response))
        for prompt, response in zip(batch.prompts, batch.responses, strict=True)
    ]
    real = [
        [0] * (before - len(prompt)) + [1] * (len(prompt) + len(response)) + [0] * (after - len(response))
        for prompt, response in zip(batch.prompts, batch.responses, strict=True)
    ]
    ids = torch.tensor(rows, device=model.device)
    seen: dict[str, Tensor] = {}
    if min(map(len, batch.prompts)) < before:
        mask = torch.tensor(real, device=model.device)
        seen = {"attention_mask": mask, "position_ids": (mask.cumsum(dim=1) - 1).clamp(min=0)}
    logits = model(input_ids=ids, use_cache=False, logits_to_keep=after + 1, **seen).logits[:, :-1]
    scaled = logits.float() / temperature
    return -functional.cross_entropy(scaled.flatten(0, 1), ids[:, before:].flatten(), reduction="none").view(ids.shape[0], after)
