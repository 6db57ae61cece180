"""The roll-out graph of CoRE (arXiv:2608.09324, "Consensus Reward Construction"). All matrices are (n, n) float64."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ttrlab.types import NO_ANSWER, FloatArray, IntArray

Kernel = Literal["half", "cos"]
Shift = Literal["full", "block", "none"]


def same_answer(answer_class: IntArray) -> NDArray[np.bool_]:
    """K_ans(i, j) = 1[y_i = y_j], diagonal True; an unparsed roll-out equals nothing, itself included."""
    parsed = answer_class != NO_ANSWER
    return (answer_class[:, None] == answer_class) & parsed[:, None] & parsed


def reasoning_kernel(cosine: FloatArray, kernel: Kernel = "half") -> FloatArray:
    """K_rsn(i, j) = (1 + cos(h_i, h_j)) / 2; ``cos`` is the cosine itself, not below 0.

    TF-IDF vectors are non-negative, so ``half`` lies in [0.5, 1]: within a class no edge is below 0.55 at kappa = 0.1, and the coherence
    ratio of two classes never exceeds 1 / 0.55 = 1.82.
    """
    return (1 + cosine) / 2 if kernel == "half" else np.maximum(cosine, 0.0)


def affinity(k_ans: NDArray[np.bool_], k_rsn: FloatArray, kappa: float) -> FloatArray:
    """A_ij = K_ans(i, j) [kappa + (1 - kappa) K_rsn(i, j)], A_ii = 0."""
    a = k_ans * (kappa + (1 - kappa) * k_rsn)
    np.fill_diagonal(a, 0.0)
    return a


def confidence_weights(c: FloatArray, parsed: NDArray[np.bool_], tau: float) -> FloatArray:
    """w_i = exp((c_i - max_j c_j) / tau) in (0, 1]; (n,). The maximum is over parsed roll-outs, and an unparsed one has w_i = 0.

    Otherwise one very confident response without an answer would rescale all the others.
    """
    if not parsed.any():
        return np.zeros(c.size)
    return np.where(parsed, np.exp(np.minimum(c - c[parsed].max(), 0.0) / tau), 0.0)


def calibrated(a: FloatArray, w: FloatArray) -> FloatArray:
    """A'_ij = A_ij sqrt(w_i w_j)."""
    root = np.sqrt(w)
    return a * np.multiply.outer(root, root)


def payoff(a_prime: FloatArray, k_ans: NDArray[np.bool_], alpha: float, c: float, shift: Shift) -> FloatArray:
    """W' = W + shift with W = A' - alpha I, non-negative for C >= alpha.

    The paper adds C e e^T and then says that blocks off the diagonal stay 0, which contradict each other. ``full``: W + C e e^T, the
    only reading under which Lemma 1, Propositions 1 to 3 and Lemma 3 all hold. ``block``: C inside an answer class alone.
    ``none``: A' itself (alpha = C = 0).
    """
    if shift == "none":
        return a_prime
    w_prime = a_prime - alpha * np.eye(a_prime.shape[0])
    return w_prime + (c if shift == "full" else c * k_ans)
