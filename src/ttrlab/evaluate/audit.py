"""What the rewards of a training run were worth: stored roll-outs and decisions, joined with gold after the fact.

A roll-out's reward is *positive* when it is > 0 (for a 0/1 rule: rewarded; for CoRE's graded reward: a member of the consensus). Against
gold this gives TP, FP, TN, FN over the trained roll-outs, the first ``train`` of the votes. Undecided roll-outs are in none of the four
and counted beside them; rates are over the decided ones, and ``reward_accuracy`` has bounds for the rest (TRUER, arXiv:2611.13714, A.2).
Rules whose rewards are not meant as a verdict (entropy, self-certainty) get the same numbers, which then say little: read their label
columns as absent.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ttrlab.advantage import group_advantage
from ttrlab.evaluate.metrics import CORRECT, UNDECIDED, WRONG, Verdicts, gold_of, grade, majority_class
from ttrlab.pools import PoolRow
from ttrlab.types import FloatArray, IntArray, RewardDecision


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision as the loop wrote it, with its question, its step and the (n,) answer classes that it was made on."""

    question_id: str
    step: int
    answer_class: IntArray
    decision: RewardDecision


def decision_from_json(value: Mapping[str, Any]) -> StoredDecision:
    """The decision behind a row of a decisions file; ValueError names a missing key, RewardDecision checks the rest."""
    try:
        labels = value["labels"]
        decision = RewardDecision(
            rewards=np.asarray(value["rewards"], dtype=np.float64),
            pseudo_label=value["pseudo_label"],
            labels=None if labels is None else np.asarray(labels, dtype=np.int64),
            weight=value["weight"],
            abstained=value["abstained"],
        )
        return StoredDecision(value["question_id"], value["step"], np.asarray(value["answer_class"], dtype=np.int64), decision)
    except KeyError as error:
        raise ValueError(f"decision row lacks the key {error}; it has {sorted(value)}") from error


def audit(pool: Iterable[PoolRow], decisions: Iterable[StoredDecision], gold: Mapping[str, str], train: int) -> pd.DataFrame:
    """One row a question visit (step, question_id) of additive counts; the two iterables are the same visits in the same order.

    ``train``: trained roll-outs, the first of the votes. ValueError where the two files disagree, KeyError where gold lacks a question.
    Feed the result to ``per_step``, ``last_updates``, ``whole_run`` or ``by_windows``.
    """
    rows = []
    for stored, made in _aligned(pool, decisions):
        correct = grade(stored.answers, gold_of(stored.question_id, gold))
        rows.append(
            {"step": stored.step, "question_id": stored.question_id, **visit_counts(made.decision, made.answer_class, correct, train)}
        )
    if not rows:
        raise ValueError("an empty pool has nothing to audit")
    return pd.DataFrame(rows)


def _aligned(pool: Iterable[PoolRow], decisions: Iterable[StoredDecision]) -> Iterator[tuple[PoolRow, StoredDecision]]:
    for number, (stored, made) in enumerate(zip(pool, decisions, strict=True), start=1):
        visits = (stored.question_id, stored.step, len(stored.answers)), (made.question_id, made.step, made.decision.rewards.size)
        if visits[0] != visits[1] or made.answer_class.size != made.decision.rewards.size:
            raise ValueError(f"row {number}: the pool has (question, step, votes) {visits[0]}, the decisions have {visits[1]}")
        yield stored, made


def visit_counts(decision: RewardDecision, answer_class: IntArray, correct: Verdicts, train: int) -> dict[str, float]:
    """The additive counts of one question visit; every array is (n,), n = votes.

    ``tp .. fn``, ``undecided``: trained roll-outs. ``active``: rewards of the trained roll-outs differ. ``advantage_correct/wrong``: sum of
    positive GRPO advantages on correct and on wrong roll-outs, times the question's weight. ``label_*``: share of the trained roll-outs
    whose label is right, wrong, undecided (1 or 0 unless labels are per roll-out). ``majority_*``: the same for the plain vote over
    the same votes. ``changed``: the label is not the vote's. ``reachable``: some vote is correct.
    """
    if not 1 <= train <= correct.size:
        raise ValueError(f"train must lie in 1..{correct.size} (the votes), got {train}")
    vote = majority_class(answer_class)
    vote_rewards = np.zeros(correct.size) if vote is None else (answer_class == vote).astype(np.float64)
    advantages = np.zeros(train) if decision.abstained else decision.weight * group_advantage(decision.rewards[:train])
    trained = correct[:train]
    return {
        "groups": 1,
        "rollouts": train,
        **_confusion(decision.rewards[:train], trained),
        "undecided": int((trained == UNDECIDED).sum()),
        "active": int(group_advantage(decision.rewards[:train]).any()),
        "accepted": int(not decision.abstained),
        "weight": float(decision.weight),
        "reward": float(decision.rewards[:train].sum()),
        "advantage_correct": float(advantages[(trained == CORRECT) & (advantages > 0)].sum()),
        "advantage_wrong": float(advantages[(trained == WRONG) & (advantages > 0)].sum()),
        **_label_counts("label", _labels(decision, train), answer_class, correct),
        **_label_counts("majority", np.array([] if vote is None else [vote], dtype=np.int64), answer_class, correct),
        **{f"majority_{name}": value for name, value in _confusion(vote_rewards[:train], trained).items() if name in ("tp", "fp")},
        "majority_active": int(group_advantage(vote_rewards[:train]).any()),
        "changed": int(decision.pseudo_label is not None and decision.pseudo_label != vote),
        "reachable": int((correct == CORRECT).any()),
    }


def _confusion(rewards: FloatArray, correct: Verdicts) -> dict[str, int]:
    positive = rewards > 0
    cells = {"tp": (True, CORRECT), "fp": (True, WRONG), "tn": (False, WRONG), "fn": (False, CORRECT)}
    return {name: int(((positive == sign) & (correct == verdict)).sum()) for name, (sign, verdict) in cells.items()}


def _labels(decision: RewardDecision, train: int) -> IntArray:
    """The labels that the trained roll-outs were compared with; none where the rule gave no label or abstained."""
    if decision.abstained or (decision.labels is None and decision.pseudo_label is None):
        return np.array([], dtype=np.int64)
    return np.array([decision.pseudo_label]) if decision.labels is None else decision.labels[:train]


def _label_counts(name: str, labels: IntArray, answer_class: IntArray, correct: Verdicts) -> dict[str, float]:
    """Shares of ``labels`` (class ids) that are right, wrong and undecided; NO_ANSWER is wrong; no labels count nowhere."""
    if labels.size == 0:
        return {f"{name}_right": 0.0, f"{name}_wrong": 0.0, f"{name}_undecided": 0.0}
    verdicts = np.array([WRONG if label < 0 else correct[np.argmax(answer_class == label)] for label in labels])
    ends = {"right": CORRECT, "wrong": WRONG, "undecided": UNDECIDED}
    return {f"{name}_{end}": float((verdicts == verdict).mean()) for end, verdict in ends.items()}


def rates(counts: pd.DataFrame) -> pd.DataFrame:
    """The counts with what follows from them; a rate without a denominator is NaN, never 0.

    ``reward_accuracy`` (TP+TN)/decided, with ``_low`` and ``_high`` over all roll-outs if every undecided one were a wrong or a right
    reward; ``precision``, ``recall``, ``fpr``; ``coverage`` accepted groups / groups; ``active_share``; ``label_accuracy``
    right/(right+wrong) of the labels given; ``majority_label_accuracy`` of the plain vote; ``tp_kept``, ``fp_removed`` and
    ``active_kept`` against the vote on the same roll-outs; ``pass_votes`` share of visits in which some vote is correct.
    """
    c = counts.astype(np.float64)
    right, decided = c.tp + c.tn, c.tp + c.fp + c.tn + c.fn
    derived = {
        "reward_accuracy": _ratio(right, decided),
        "reward_accuracy_low": _ratio(right, c.rollouts),
        "reward_accuracy_high": _ratio(right + c.undecided, c.rollouts),
        "precision": _ratio(c.tp, c.tp + c.fp),
        "recall": _ratio(c.tp, c.tp + c.fn),
        "fpr": _ratio(c.fp, c.fp + c.tn),
        "fp_share_of_errors": _ratio(c.fp, c.fp + c.fn),
        "coverage": _ratio(c.accepted, c.groups),
        "active_share": _ratio(c.active, c.groups),
        "label_accuracy": _ratio(c.label_right, c.label_right + c.label_wrong),
        "majority_label_accuracy": _ratio(c.majority_right, c.majority_right + c.majority_wrong),
        "tp_kept": _ratio(c.tp, c.majority_tp),
        "fp_removed": 1.0 - _ratio(c.fp, c.majority_fp),
        "active_kept": _ratio(c.active, c.majority_active),
        "mean_weight": _ratio(c.weight, c.groups),
        "mean_reward": _ratio(c.reward, c.rollouts),
        "pass_votes": _ratio(c.reachable, c.groups),
    }
    return counts.assign(**derived)


def _ratio(top: pd.Series, bottom: pd.Series) -> pd.Series:
    return top / bottom.where(bottom > 0)


def _summed(visits: pd.DataFrame, key: pd.Series) -> pd.DataFrame:
    numbers = visits.drop(columns=["step", "question_id"])
    steps = visits.groupby(key)["step"].agg(first_step="min", last_step="max", steps="nunique")
    return rates(steps.join(numbers.groupby(key).sum()).reset_index(drop=True))


def per_step(visits: pd.DataFrame) -> pd.DataFrame:
    """One row a step, in order: first_step = last_step = the step, counts, rates."""
    return _summed(visits, visits["step"])


def over_seeds(audits: pd.DataFrame) -> pd.DataFrame:
    """Counts of the windows of all cells of a study (columns model, benchmark, method, seed, window) summed over seeds, with their rates.

    Adds ``seeds``. Single steps are left out; of runs that end at different steps the last windows are joined all the same.
    """
    windows = audits[audits["window"] != "step"]
    windows = windows.assign(place=windows["first_step"].where(windows["window"] == "15 updates", 0))
    keys = ["model", "benchmark", "method", "window", "place"]
    steps = ["first_step", "last_step", "steps"]
    counts = [name for name in windows.columns[: windows.columns.get_loc("reward_accuracy")] if name not in steps]
    groups = windows.groupby(keys, sort=False)
    spans = groups.agg(first_step=("first_step", "min"), last_step=("last_step", "max"), seeds=("seed", "nunique"))
    return spans.join(rates(groups[counts].sum())).reset_index().drop(columns="place")


def whole_run(visits: pd.DataFrame) -> pd.DataFrame:
    """One row over all stored steps."""
    return _summed(visits, pd.Series(0, index=visits.index))


def last_updates(visits: pd.DataFrame, updates: int = 4) -> pd.DataFrame:
    """One row over the last ``updates`` steps that are stored (TRUER's main table: 4)."""
    last = np.sort(visits["step"].unique())[-updates:]
    return whole_run(visits[visits["step"].isin(last)])


def by_windows(visits: pd.DataFrame, size: int = 15) -> pd.DataFrame:
    """One row a window of ``size`` consecutive step numbers: 1..size, size+1..2 size, ... (TRUER's curves: 15)."""
    return _summed(visits, (visits["step"] - 1) // size)
