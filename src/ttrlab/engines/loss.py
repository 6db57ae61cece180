"""The GRPO loss, shaped like its equations. Every array is (B, T) over the response tokens of B sequences; ``mask`` is 1 on real tokens.

Clip, dual clip, estimators and aggregations are verl's (core_algos.py), which TTRL, SCOPE and TRUER ran on.
"""

import torch
from torch import Tensor

from ttrlab.config.settings import Training

LOG_RATIO_BOUND = 20.0
KL_BOUND = 10.0


def policy_loss(logprob: Tensor, old_logprob: Tensor, advantage: Tensor, training: Training) -> tuple[Tensor, Tensor]:
    """(per-token loss, per-token clip indicator).

    rho = exp(clamp(logp - logp_old, -20, 20));  L = max(-A rho, -A clip(rho, 1 - low, 1 + high));  for A < 0: L = min(L, -c A).
    ``advantage`` (B, 1) is the same on all tokens of a sequence. ``dual_clip`` None leaves the last line out.
    """
    ratio = torch.exp((logprob - old_logprob).clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND))
    plain = -advantage * ratio
    clipped = -advantage * ratio.clamp(1 - training.clip_low, 1 + training.clip_high)
    loss = torch.maximum(plain, clipped)
    if training.dual_clip is not None:
        loss = torch.where(advantage < 0, torch.minimum(loss, -training.dual_clip * advantage), loss)
    return loss, (clipped > plain).to(loss.dtype)


def kl_loss(logprob: Tensor, reference: Tensor, estimator: str) -> Tensor:
    """Per-token estimate of KL(policy || reference) with x = logp - logp_ref.

    k1 = x;  k2 = x^2 / 2;  k3 = exp(-x) - 1 + x, with -x clamped to [-20, 20] and k3 to [-10, 10] as in verl (Schulman, 2020).
    """
    x = logprob - reference
    if estimator == "k1":
        return x
    if estimator == "k2":
        return x.square() / 2
    bounded = (-x).clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)
    return (bounded.exp() - 1 - bounded).clamp(-KL_BOUND, KL_BOUND)


def token_weights(mask: Tensor, aggregation: str, longest: int) -> Tensor:
    """(B, T) weights w so that a whole batch's loss is sum(w * token loss); computed once a mini-batch, micro-batches slice it.

    token-mean: 1 / tokens;  seq-mean-token-mean: 1 / (B T_i), original GRPO;  seq-mean-token-sum: 1 / B;
    seq-mean-token-sum-norm: 1 / ``longest`` (Dr.GRPO; the constant is the padded response length). Rows without a token weigh nothing.
    """
    lengths = mask.sum(dim=1, keepdim=True)
    rows = (lengths > 0).sum().clamp(min=1)
    if aggregation == "token-mean":
        return mask / mask.sum().clamp(min=1)
    if aggregation == "seq-mean-token-mean":
        return mask / lengths.clamp(min=1) / rows
    if aggregation == "seq-mean-token-sum":
        return mask / rows
    return mask / longest


def learning_rate(update: int, updates: int, training: Training) -> float:
    """Learning rate of the ``update``-th of ``updates`` (0-based): linear warm-up, then a half cosine to 0, or constant."""
    warmup = training.warmup_steps if training.warmup_steps is not None else int(training.warmup_ratio * updates)
    if update < warmup:
        return training.learning_rate * (update + 1) / warmup
    if training.schedule == "constant":
        return training.learning_rate
    progress = torch.tensor((update - warmup) / max(1, updates - warmup), dtype=torch.float64)
    return training.learning_rate * float(0.5 * (1 + torch.cos(torch.pi * progress)))
