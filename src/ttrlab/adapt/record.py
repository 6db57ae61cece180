"""What is kept of a step: one record of numbers, one pool row and one decision a question. No gold is read here."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttrlab import signals
from ttrlab.adapt.loop import Step
from ttrlab.pools import PoolRow
from ttrlab.types import RewardDecision, RolloutGroup


def step_record(step: Step) -> dict[str, Any]:
    """One JSON object a step. Shares and means are over all votes of the step's questions; lengths in tokens, entropy in nats.

    ``rule/...``: means of the decisions' own numbers; ``engine/...``: what the update reported. Deterministic: no clock in it.
    """
    groups, decisions = step.groups, step.decisions
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    lengths = np.array([len(rollout.token_ids) for rollout in rollouts])
    entropies = [rollout.token_stats["entropy"] for rollout in rollouts if "entropy" in rollout.token_stats]
    rewards = np.concatenate([decision.rewards for decision in decisions])
    record: dict[str, Any] = {
        "step": step.number,
        "questions": len(groups),
        "rollouts": len(rollouts),
        "reward_mean": float(rewards.mean()),
        "reward_std": float(rewards.std()),
        "weight_mean": float(np.mean([decision.weight for decision in decisions])),
        "labelled_share": float(np.mean([decision.pseudo_label is not None for decision in decisions])),
        "abstained_share": float(np.mean([decision.abstained for decision in decisions])),
        "active_share": float(np.mean([advantage.any() for advantage in step.advantages])),
        "majority_ratio": float(np.mean([group.counts.max(initial=0) / group.n for group in groups])),
        "classes_mean": float(np.mean([group.n_classes for group in groups])),
        "unparsed_share": float(1 - np.mean(np.concatenate([group.parsed for group in groups]))),
        "truncated_share": float(np.mean([rollout.truncated for rollout in rollouts])),
        "length_mean": float(lengths.mean()),
        "length_max": int(lengths.max()),
        "tokens": int(lengths.sum()),
        "entropy": float(np.concatenate(entropies).mean(dtype=np.float64)) if entropies else None,
    }
    record |= {f"engine/{name}": float(value) for name, value in step.update.items()}
    names = sorted({name for decision in decisions for name in decision.stats})
    for name in names:
        values = [decision.stats[name] for decision in decisions if name in decision.stats]
        record[f"rule/{name}"] = float(np.mean(values))
    return record


def pool_row(group: RolloutGroup, step: int) -> PoolRow:
    """The stored form of a group: texts, answers and every reduced signal that its roll-outs allow."""
    kept = {**signals.per_rollout_signals(group.rollouts), **{k: v for k, v in group.signals.items() if k.startswith("judge_")}}
    return PoolRow(
        question_id=group.question.id,
        step=step,
        seed=group.seed,
        texts=tuple(rollout.text for rollout in group.rollouts),
        answers=tuple(rollout.answer for rollout in group.rollouts),
        truncated=tuple(rollout.truncated for rollout in group.rollouts),
        tokens=tuple(len(rollout.token_ids) for rollout in group.rollouts),
        signals={name: np.asarray(values, dtype=np.float64) for name, values in kept.items()},
    )


def decision_row(group: RolloutGroup, decision: RewardDecision, step: int) -> dict[str, Any]:
    """One decision as a JSON object, aligned with the pool row of the same question and step."""
    return {
        "question_id": group.question.id,
        "step": step,
        "answer_class": group.answer_class.tolist(),
        "rewards": decision.rewards.tolist(),
        "pseudo_label": decision.pseudo_label,
        "labels": None if decision.labels is None else decision.labels.tolist(),
        "weight": float(decision.weight),
        "abstained": decision.abstained,
        "stats": {name: float(value) for name, value in decision.stats.items()},
        "per_rollout": {name: _plain(values) for name, values in decision.per_rollout.items()},
    }


def _plain(values: NDArray[np.generic]) -> list[float | None]:
    """Numbers for JSON; NaN becomes null."""
    return [None if np.isnan(value) else float(value) for value in np.asarray(values, dtype=np.float64)]
