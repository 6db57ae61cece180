"""Numbers over the whole vocabulary: an engine that returns only the top-k cannot give them, and is refused by name."""

from collections.abc import Sequence

import numpy as np

from ttrlab.signals.base import token_numbers
from ttrlab.types import FloatArray, Rollout


def entropy(rollouts: Sequence[Rollout]) -> FloatArray:
    """(n,) mean_t H_t, Shannon entropy of the next-token distribution in nats (RENT, arXiv:2505.22660; SCRL, arXiv:2603.19880)."""
    return np.array([h.mean(dtype=np.float64) for h in token_numbers(rollouts, "entropy")])


def self_certainty(rollouts: Sequence[Rollout]) -> FloatArray:
    """(n,) mean_t [logsumexp(z_t) - mean(z_t)] = mean_t KL(U || p_t) + log |V| (INTUITOR, arXiv:2505.19590, as its code computes it).

    The constant log |V| cancels in GRPO's centring.
    """
    return np.array([s.mean(dtype=np.float64) for s in token_numbers(rollouts, "self_certainty")])
