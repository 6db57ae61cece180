"""Replicator dynamics on a stack of graphs, in float64."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttrlab.types import FloatArray

EPSILON = 1e-6
T_MAX = 200


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """Where the dynamics stopped for each of q questions.

    ``x`` (q, n) mass on each roll-out, rows sum to 1; ``iterations`` (q,) updates made; ``converged`` (q,) ||x(t+1) - x(t)||_2 < epsilon;
    ``degenerate`` (q,) the mean payoff x^T W' x was not positive (no edge carries mass), x is where it was.
    """

    x: FloatArray
    iterations: NDArray[np.int64]
    converged: NDArray[np.bool_]
    degenerate: NDArray[np.bool_]


def barycentre(parsed: NDArray[np.bool_]) -> FloatArray:
    """x(0) = e / N over the parsed roll-outs, 0 elsewhere; (n,) or (q, n). All 0 where nothing is parsed."""
    counts = parsed.sum(axis=-1, keepdims=True)
    return parsed / np.maximum(counts, 1)


def replicator(w_prime: FloatArray, x0: FloatArray, epsilon: float = EPSILON, t_max: int = T_MAX) -> Equilibrium:
    """x_i(t+1) = x_i(t) (W'x(t))_i / x(t)^T W' x(t)  until  ||x(t+1) - x(t)||_2 < epsilon  or  t = t_max.

    ``w_prime`` (q, n, n) non-negative, ``x0`` (q, n). Each question stops on its own and has the same bits whatever else is in the stack.
    A mass of 0 stays 0.
    """
    if w_prime.shape != (*x0.shape, x0.shape[-1]):
        raise ValueError(f"w_prime has shape {w_prime.shape}, expected {(*x0.shape, x0.shape[-1])} for x0 of shape {x0.shape}")
    q = x0.shape[0]
    final, iterations = x0.astype(np.float64, copy=True), np.zeros(q, np.int64)
    converged, degenerate = np.zeros(q, bool), np.zeros(q, bool)
    running, w, x = np.arange(q), w_prime, final  # the questions that still move, their graphs and masses
    for t in range(1, t_max + 1):
        support = np.einsum("qij,qj->qi", w, x)
        mean = np.einsum("qi,qi->q", x, support)
        alive = mean > 0
        if not alive.all():
            degenerate[running[~alive]] = True
            running, w, x, support, mean = running[alive], w[alive], x[alive], support[alive], mean[alive]
        if running.size == 0:
            break
        new = x * support / mean[:, None]
        moved = new - x
        x = new
        still = np.einsum("qi,qi->q", moved, moved) >= epsilon**2
        if not still.all():
            final[running[~still]], iterations[running[~still]], converged[running[~still]] = x[~still], t, True
            running, w, x = running[still], w[still], x[still]
    final[running], iterations[running] = x, t_max
    return Equilibrium(final, iterations, converged, degenerate)
