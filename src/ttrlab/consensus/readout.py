"""What CoRE reads from an equilibrium x* (arXiv:2608.09324, "Read-outs")."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ttrlab.types import NO_ANSWER, FloatArray, IntArray

ReadoutMatrix = Literal["A", "A_selfloop", "A_prime"]
NEGLIGIBLE = 1e-5
"""Rewards below this are the residue of classes that are still losing their mass when the dynamics stop: up to 3.4e-6 in 4,977 random
groups at kappa = 1. Without the cut a loser's reward would be positive, and CoRE would not contain the vote."""


def class_mass(x: FloatArray, answer_class: IntArray) -> FloatArray:
    """(n_classes,) sum of x_i over each answer class."""
    parsed = answer_class != NO_ANSWER
    return np.bincount(answer_class[parsed], x[parsed], minlength=int(answer_class.max(initial=NO_ANSWER)) + 1).astype(np.float64)


def readout(a: FloatArray, a_prime: FloatArray, k_ans: NDArray[np.bool_], matrix: ReadoutMatrix) -> FloatArray:
    """The (n, n) matrix M of R_i = (M x*)_i / max_j (M x*)_j.

    ``A`` is the paper's: uncalibrated, because confidence already shapes x*. At an equilibrium (W x*)_i is constant on the support, so with
    A_ii = 0 the reward *falls* with a member's own mass and confidence; ``A_selfloop`` (A_ii = 1) and ``A_prime`` reverse that.
    """
    if matrix == "A_selfloop":
        return a + np.diag(np.diagonal(k_ans).astype(np.float64))
    return a_prime if matrix == "A_prime" else a


def graded_rewards(m: FloatArray, x: FloatArray, eligible: NDArray[np.bool_]) -> FloatArray:
    """(n,) R_i = (M x*)_i / max_j (M x*)_j in [0, 1], over the ``eligible`` roll-outs; 0 for the others and below 1e-5.

    All 0 when nothing supports anything.
    """
    support = np.where(eligible, m @ x, 0.0)
    best = support.max()
    if best <= 0:
        return np.zeros(x.size)
    rewards = support / best
    return np.where(rewards < NEGLIGIBLE, 0.0, rewards)


def cohesiveness(a: FloatArray, x: FloatArray) -> float:
    """The gate w_q = x*^T A x* in [0, 1), with the uncalibrated A."""
    return float(x @ a @ x)
