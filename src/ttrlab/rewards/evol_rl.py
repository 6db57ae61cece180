"""Majority drives selection, novelty promotes variation (EVOL-RL, arXiv:2509.15194)."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ttrlab.rewards.base import Rule, first_best
from ttrlab.types import FloatArray, RewardDecision, RolloutGroup

_EQUAL = 1e-12


class EvolRl(Rule):
    """Over valid roll-outs, cos >= 0 the similarity of their reasoning, M the majority (EVOL-RL, arXiv:2509.15194):

        s_i = mean similarity to the others on i's side of M (to all others when i is alone);  m_i = max similarity to any other
        u_i = 1 - w s_i - (1 - w) m_i, min-max scaled to u^ in [0, 1] on each side
        r_i = 0.5 + 0.5 u^_i for the majority, -1 + 0.5 u^_i for the others, -1 for invalid roll-outs

    One alone on its side has u^ = 1; equal ones have u^ = 0.5. ``valid: digit`` asks for an answer with a digit, as the public code
    does, which excludes symbolic answers; ``boxed`` takes any. The paper embeds texts with Qwen3-Embedding-4B (``similarity:
    embedding_similarity``, a callback); TF-IDF is our stand-in for a machine without it. Nothing valid: abstained.
    """

    rule: Literal["evol_rl"] = "evol_rl"
    similarity: Literal["reasoning_similarity", "embedding_similarity"] = "reasoning_similarity"
    valid: Literal["digit", "boxed"] = "digit"
    same_side: float = Field(0.5, ge=0, le=1)

    @property
    def needs(self) -> tuple[str, ...]:
        """Pairwise similarity of the reasoning."""
        return (self.similarity,)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward the majority, and on each side what is unlike the rest."""
        has_digit = np.array([any(ch.isdigit() for ch in rollout.answer or "") for rollout in group.rollouts])
        valid = group.parsed & (has_digit | (self.valid == "boxed"))
        votes = np.bincount(group.answer_class[valid], minlength=group.n_classes).astype(np.float64)
        label = first_best(votes)
        if label is None:
            return RewardDecision(np.zeros(group.n), None, abstained=True)
        majority = valid & (group.answer_class == label)
        cosine = np.clip(group.signal(self.similarity).astype(np.float64), 0.0, 1.0)
        novelty = self.novelty(cosine, valid, majority)
        rewards = np.where(valid, np.where(majority, 0.5, -1.0) + 0.5 * novelty, -1.0)
        return RewardDecision(rewards, label, stats={"valid": float(valid.sum())}, per_rollout={"novelty": novelty})

    def novelty(self, cosine: FloatArray, valid: NDArray[np.bool_], majority: NDArray[np.bool_]) -> FloatArray:
        """(n,) u^; 0 for invalid roll-outs. ``cosine`` (n, n) in [0, 1]."""
        others = valid & valid[:, None] & ~np.eye(valid.size, dtype=bool)
        same = others & (majority == majority[:, None])
        same = np.where(same.any(axis=1, keepdims=True), same, others)
        s = (cosine * same).sum(axis=1) / np.maximum(same.sum(axis=1), 1)
        m = np.where(others, cosine, 0.0).max(axis=1)
        u = 1 - self.same_side * s - (1 - self.same_side) * m
        novelty = np.zeros(valid.size)
        for side in (majority, valid & ~majority):
            novelty[side] = _scaled(u[side])
        return novelty


def _scaled(u: FloatArray) -> FloatArray:
    """Min-max to [0, 1]; one alone is 1, equal ones are 0.5."""
    if u.size == 1:
        return np.ones(1)
    spread = np.ptp(u) if u.size else 0.0
    return (u - u.min()) / spread if spread > _EQUAL else np.full(u.size, 0.5)
