"""What CoRE's analysis predicts (arXiv:2608.09324, "When Does Consensus Beat the Vote?"), in the paper's symbols.

Two answer classes: a correct clique of n* roll-outs with affinity c*, and a wrong one of m > n* with affinity c_w. w* and w_w are their
mean confidence weights, tau the confidence temperature, delta the confidence gap in nats.
"""

import math

import numpy as np

from ttrlab.consensus.affinity import Shift
from ttrlab.types import FloatArray, IntArray


def internal_score(a_prime: FloatArray, x: FloatArray, members: IntArray) -> float:
    """phi_a = sum_{i,j in V_a} (x_i / s_a) A'_ij (x_j / s_a), the coherence of one class; ``members`` indexes V_a.

    The objective is x^T A' x = sum_a s_a^2 phi_a. ValueError when the class has no mass s_a.
    """
    mass = x[members].sum()
    if mass <= 0:
        raise ValueError(f"the class {members.tolist()} has no mass, so its internal score is undefined")
    y = x[members] / mass
    return float(y @ a_prime[np.ix_(members, members)] @ y)


def uniform_score(c: float, n: int) -> float:
    """mu_a = c (1 - 1/n), the internal score of a uniform clique of n roll-outs with affinity c."""
    return c * (1 - 1 / n)


def calibrated_score(c: float, w: FloatArray) -> float:
    """Proposition 3: mu'_S = c (mean(sqrt w)^2 - mean(w) / n), exactly, at the barycentre of a clique with weights w (n,).

    The paper's text prints mu-bar as the mean of w; the identity holds for the mean of sqrt(w) alone.
    """
    return float(c * (np.sqrt(w).mean() ** 2 - w.mean() / w.size))


def extensive_score(c: float, n: int, alpha: float = 0.0, shift: Shift = "full", shift_constant: float | None = None) -> float:
    """n_a mu_a, by which the dynamics from the barycentre choose: c (n - 1) - alpha; the class of largest value wins.

    ``full`` adds the same C N to every class and so nothing. ``none`` has no alpha. ``block`` adds C n_a (n_a (1 + C) - 1 - alpha for
    c = 1), which favours the larger class and is why Proposition 2 fails under it.
    """
    if shift == "none":
        return c * (n - 1)
    block = (alpha if shift_constant is None else shift_constant) * n if shift == "block" else 0.0
    return c * (n - 1) - alpha + block


def extraction_threshold(n_star: int, m: int, c_wrong: float = 1.0, weight_ratio: float = 1.0) -> float:
    """Propositions 2 and 3: the correct clique is extracted iff c* exceeds (w_w / w*) ((m - 1) / (n* - 1)) c_w.

    ``weight_ratio`` = w_w / w*. Infinite for n* = 1: a lone answer supports nobody.
    """
    return math.inf if n_star == 1 else weight_ratio * (m - 1) / (n_star - 1) * c_wrong


def block_extracts(n_star: int, m: int, c_star: float, c_wrong: float, shift_constant: float) -> bool:
    """The law that holds instead under ``shift="block"``: c* (n* - 1) + C n* > c_w (m - 1) + C m."""
    return c_star * (n_star - 1) + shift_constant * n_star > c_wrong * (m - 1) + shift_constant * m


def static_threshold(n_star: int, m: int, c_wrong: float = 1.0) -> float:
    """c* above which the correct clique is the *global* maximiser: c* (1 - 1/n*) > c_w (1 - 1/m), about c_w whatever the sizes."""
    return math.inf if n_star == 1 else c_wrong * (1 - 1 / m) / (1 - 1 / n_star)


def confidence_factor(delta: float, tau: float) -> float:
    """e^(-delta / tau), by which a gap of delta nats multiplies the extraction threshold."""
    return math.exp(-delta / tau)


def recovery_threshold(size_ratio: FloatArray, delta: float = 0.0, tau: float = 0.25) -> FloatArray:
    """The line of the recovery region: coherence advantage c*/c_w needed at size disadvantage r = m/n*, about e^(-delta/tau) r."""
    return confidence_factor(delta, tau) * size_ratio
