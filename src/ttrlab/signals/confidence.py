"""How sure the model was: from the sampled tokens' log-probs, or from the peakedness of each next-token distribution.

``topk_confidence`` C_t = -mean_j log P_t(j) over the k most likely tokens (DeepConf, arXiv:2508.15260): larger = more peaked. It is not the
surprisal of the sampled token, which is larger = less sure; SCOPE's public code asks vLLM for ``logprobs=0`` and so gets the latter.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ttrlab.signals.base import token_numbers
from ttrlab.types import FloatArray, Rollout

TAIL_SHARE = BOTTOM_SHARE = 0.1
"""The "10 %" of SCOPE's tail and bottom confidence (Figure 4) and of DeepConf's bottom groups."""


def mean_logprob(rollouts: Sequence[Rollout]) -> FloatArray:
    """(n,) c_i = (1/|o_i|) sum_t log pi(o_it), nats at temperature 1, EOS included (CoRE, arXiv:2608.09324)."""
    return _means(token_numbers(rollouts, "logprobs"))


def sequence_probability(rollouts: Sequence[Rollout]) -> FloatArray:
    """(n,) exp(c_i), the length-normalised probability of the response in (0, 1] (CISC's "response probability", arXiv:2502.06233)."""
    return np.exp(mean_logprob(rollouts))


def trace_confidence(rollouts: Sequence[Rollout]) -> FloatArray:
    """(n,) mean_t C_t (DeepConf's average trace confidence)."""
    return _means(token_numbers(rollouts, "topk_confidence"))


def step_confidence(rollouts: Sequence[Rollout]) -> FloatArray:
    """(n,) mean over reasoning steps of the mean C_t in the step, so that each step weighs the same (SCOPE, section 3.1)."""
    return _step_means(rollouts, "topk_confidence")


def step_surprisal(rollouts: Sequence[Rollout]) -> FloatArray:
    """(n,) mean over steps of the mean -log pi(o_t): what SCOPE's public code calls confidence. It falls with certainty."""
    return -_step_means(rollouts, "logprobs")


def bottom_confidence(rollouts: Sequence[Rollout], window: int | None = None, share: float = BOTTOM_SHARE) -> FloatArray:
    """(n,) mean of the lowest ``share`` of the means over sliding windows of ``window`` tokens, stride 1 (DeepConf's bottom groups).

    At least one window counts, so ``share=0`` is DeepConf's lowest group. A response shorter than a window gives its trace mean.
    ``window`` None: min(2048, max(16, T // 4)), because DeepConf's 2048 covers most of a 3,000-token response.
    """
    return np.array([_bottom(c, window or min(2048, max(16, c.size // 4)), share) for c in token_numbers(rollouts, "topk_confidence")])


def tail_confidence(rollouts: Sequence[Rollout], tokens: int | None = None, share: float = TAIL_SHARE) -> FloatArray:
    """(n,) mean C_t of the last ``share`` of the tokens (SCOPE's tail 10 %), or of the last ``tokens`` (DeepConf's 2048)."""
    values = token_numbers(rollouts, "topk_confidence")
    return _means([c[-min(c.size, tokens or max(1, int(share * c.size))) :] for c in values])


def _means(values: Sequence[NDArray[np.float32]]) -> FloatArray:
    return np.array([v.mean(dtype=np.float64) for v in values])


def _step_means(rollouts: Sequence[Rollout], stat: str) -> FloatArray:
    """(n,) mean over steps of step means; ValueError names a roll-out whose steps the engine did not mark."""
    values = token_numbers(rollouts, stat)
    unmarked = [index for index, rollout in enumerate(rollouts) if rollout.step_ends is None]
    if unmarked:
        raise ValueError(f"roll-out {unmarked[0]} has no step_ends, so {stat} cannot be averaged by step")
    return np.array([_by_step(v, rollout.step_ends or ()) for v, rollout in zip(values, rollouts, strict=True)])


def _by_step(values: NDArray[np.float32], ends: tuple[int, ...]) -> float:
    starts = np.array([0, *ends[:-1]])
    sums = np.add.reduceat(values.astype(np.float64), starts)
    return float(np.mean(sums / np.diff([0, *ends])))


def _bottom(values: NDArray[np.float32], window: int, share: float) -> float:
    if values.size < window:
        return float(values.mean(dtype=np.float64))
    total = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    means = (total[window:] - total[:-window]) / window
    return float(np.sort(means)[: max(1, int(share * means.size))].mean())
