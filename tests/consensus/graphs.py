"""Roll-out graphs with known structure, and a plain reference of the dynamics."""

import numpy as np

from ttrlab.consensus.affinity import payoff, same_answer
from ttrlab.consensus.dynamics import barycentre, replicator
from ttrlab.consensus.readout import class_mass


def cliques(sizes, affinities, weights=None):
    """A' of uniform cliques: (answer_class, A'); ``weights``: one confidence weight a class."""
    answer_class = np.repeat(np.arange(len(sizes)), sizes)
    per_node = np.array(affinities, dtype=float)[answer_class]
    a = same_answer(answer_class) * per_node
    np.fill_diagonal(a, 0.0)
    root = np.sqrt(np.ones(len(sizes)) if weights is None else np.array(weights, dtype=float))[answer_class]
    return answer_class, a * np.multiply.outer(root, root)


def winner(answer_class, a_prime, alpha=0.1, c=0.1, shift="full", t_max=5000):
    """The class that the dynamics extract from the barycentre."""
    w = payoff(a_prime, same_answer(answer_class), alpha, c, shift)
    found = replicator(w[None], barycentre(np.ones((1, answer_class.size), bool)), t_max=t_max, epsilon=1e-9)
    return int(class_mass(found.x[0], answer_class).argmax())


def plain_replicator(w, x, epsilon, t_max):
    """The update of the paper, one component at a time."""
    x = list(x)
    for t in range(t_max):
        support = [sum(w[i][j] * x[j] for j in range(len(x))) for i in range(len(x))]
        mean = sum(xi * s for xi, s in zip(x, support, strict=True))
        if mean <= 0:
            return np.array(x), t
        new = [xi * s / mean for xi, s in zip(x, support, strict=True)]
        moved = sum((a - b) ** 2 for a, b in zip(new, x, strict=True)) ** 0.5
        x = new
        if moved < epsilon:
            return np.array(x), t + 1
    return np.array(x), t_max
