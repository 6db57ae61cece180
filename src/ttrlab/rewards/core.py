"""CoRE: consensus rewards via equilibrium (arXiv:2608.09324)."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import groupby
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from ttrlab.consensus import affinity as graph
from ttrlab.consensus import readout as read
from ttrlab.consensus.dynamics import EPSILON, T_MAX, barycentre, replicator
from ttrlab.rewards.base import RELATIVE_TIE, Rule, first_best
from ttrlab.types import FloatArray, RewardDecision, RolloutGroup


class EquilibriumRule(Rule):
    """The consensus operator, given node weights w:

        A_ij = K_ans [kappa + (1 - kappa) K_rsn], A_ii = 0;   A' = A o sqrt(w w^T);   W' = A' - alpha I + C e e^T
        x_i <- x_i (W'x)_i / x^T W'x  from the barycentre;   y* = argmax_a sum of x*_i over class a
        R_i = (A x*)_i / max_j (A x*)_j;   w_q = x*^T A x*

    Choices where the text is silent or contradicts itself: ``shift`` (see ``affinity.payoff``) and ``readout_matrix`` (see
    ``readout.readout``) default to the readings that keep the paper's propositions and formulas. Unparsed roll-outs are isolated
    and start without mass. ``tie: first``: of classes with equal mass the one sampled first is the label and the others earn nothing, as
    in the vote; ``keep`` rewards them all. ``zero_unanimous``: a question whose parsed roll-outs all agree has weight 0. No two
    roll-outs agree: there is no consensus, the rule abstains (TTRL would reward the first answer). ``gate: false``: w_q = 1.
    ``similarity: embedding_similarity`` takes a callback's vectors, such as hidden states, for h_i.
    """

    kappa: float = Field(0.1, ge=0, le=1)
    alpha: float = Field(0.1, ge=0)
    c: float | None = Field(None, ge=0)
    shift: graph.Shift = "full"
    similarity: Literal["reasoning_similarity", "embedding_similarity"] = "reasoning_similarity"
    reasoning_kernel: graph.Kernel = "half"
    epsilon: float = Field(EPSILON, gt=0)
    t_max: int = Field(T_MAX, ge=1)
    rho: float | None = Field(None, ge=0)
    readout_matrix: read.ReadoutMatrix = "A"
    gate: bool = True
    tie: Literal["first", "keep"] = "first"
    zero_unanimous: bool = False

    @model_validator(mode="after")
    def _non_negative_payoff(self) -> "EquilibriumRule":
        if self.c is not None and self.c < self.alpha:
            raise ValueError(f"c must be at least alpha, or W' has negative entries; got c={self.c}, alpha={self.alpha}")
        return self

    @abstractmethod
    def weights(self, group: RolloutGroup) -> FloatArray:
        """(n,) node weights w_i in [0, 1]."""

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Extract the dominant set of one question."""
        return self.decide_all([group])[0]

    def decide_all(self, groups: Sequence[RolloutGroup]) -> list[RewardDecision]:
        """Runs of questions with equally many roll-outs share one stack of graphs; the numbers are the same one by one."""
        return [decision for _, run in groupby(groups, key=lambda group: group.n) for decision in self._decide_run(list(run))]

    def _decide_run(self, groups: Sequence[RolloutGroup]) -> list[RewardDecision]:
        graphs = [self._graph(group) for group in groups]
        x0 = np.stack([barycentre(group.parsed) for group in groups])
        found = replicator(np.stack([w_prime for _, _, w_prime in graphs]), x0, self.epsilon, self.t_max)
        progress = zip(found.iterations.tolist(), found.converged.tolist(), found.degenerate.tolist(), strict=True)
        return [
            self._read(group, a, a_prime, x, {"iterations": steps, "converged": done, "degenerate": stuck})
            for group, (a, a_prime, _), x, (steps, done, stuck) in zip(groups, graphs, found.x, progress, strict=True)
        ]

    def _graph(self, group: RolloutGroup) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A, A' and W' of one question."""
        k_ans = graph.same_answer(group.answer_class)
        k_rsn = graph.reasoning_kernel(group.signal(self.similarity).astype(np.float64), self.reasoning_kernel)
        a = graph.affinity(k_ans, k_rsn, self.kappa)
        a_prime = graph.calibrated(a, self.weights(group))
        c = self.alpha if self.c is None else self.c
        return a, a_prime, graph.payoff(a_prime, k_ans, self.alpha, c, self.shift)

    def _read(self, group: RolloutGroup, a: FloatArray, a_prime: FloatArray, x: FloatArray, progress: dict[str, float]) -> RewardDecision:
        """Pseudo-label, graded rewards and gate of one equilibrium."""
        rho = 1 / (10 * group.n) if self.rho is None else self.rho
        gate = read.cohesiveness(a, x)
        stats = {**{k: float(v) for k, v in progress.items()}, "gate": gate, "support": float((x > rho).sum()), "x_max": float(x.max())}
        per_rollout = {"equilibrium": x, "weight": self.weights(group)}
        mass = read.class_mass(x, group.answer_class)
        label = first_best(mass)
        if label is None or not a.any():
            return RewardDecision(np.zeros(group.n), None, abstained=True, stats=stats, per_rollout=per_rollout)
        m = read.readout(a, a_prime, graph.same_answer(group.answer_class), self.readout_matrix)
        tied = np.flatnonzero(mass >= mass[label] * (1 - RELATIVE_TIE)) if self.tie == "first" else np.array([label])
        rewards = read.graded_rewards(m, x, ~np.isin(group.answer_class, tied[tied != label]))
        weight = 0.0 if self.zero_unanimous and group.n_classes == 1 else gate if self.gate else 1.0
        return RewardDecision(rewards, label, weight=weight, stats=stats, per_rollout=per_rollout)


class Core(EquilibriumRule):
    """The operator with confidence: w_i = exp((c_i - max_j c_j) / tau), c_i the mean log-prob in nats (arXiv:2608.09324).

    One fixed setting for all models and benchmarks of the paper: kappa 0.1, tau 0.25, alpha = C = 0.1, epsilon 1e-6, 200 steps.
    Adding a constant to all c_i changes nothing.
    """

    rule: Literal["core"] = "core"
    tau: float = Field(0.25, gt=0)

    @property
    def needs(self) -> tuple[str, ...]:
        """Confidence and reasoning similarity."""
        return ("mean_logprob", self.similarity)

    def weights(self, group: RolloutGroup) -> FloatArray:
        """Confidence relative to the most confident roll-out with an answer."""
        return graph.confidence_weights(group.signal("mean_logprob").astype(np.float64), group.parsed, self.tau)
