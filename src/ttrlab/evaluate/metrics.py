"""Scores of roll-outs: mean@k, pass@k, majority@k, greedy, and the shares and lengths that say what stands behind them.

A verdict is 1 (correct), 0 (wrong, or no answer extracted) or -1 (undecided: the grader could not tell). **The rule for undecided:** it
stays in the denominator and out of the numerator, so ``value`` is a lower bound; ``upper`` is the same score with every undecided
roll-out counted as correct; ``undecided`` is how many there are. A table that shows ``value`` shows the other two where they differ.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttrlab import grading
from ttrlab.pools import PoolRow
from ttrlab.types import NO_ANSWER, FloatArray, IntArray

CORRECT, WRONG, UNDECIDED = 1, 0, -1

Verdicts = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Graded:
    """Graded roll-outs of one checkpoint: Q questions, n samples each, in sampling order.

    ``correct`` (Q, n) int8 in {1, 0, -1}; ``answer_class`` (Q, n) int64, ``NO_ANSWER`` where nothing was extracted;
    ``truncated`` (Q, n) bool; ``tokens`` (Q, n) int64.
    """

    question_ids: tuple[str, ...]
    correct: Verdicts
    answer_class: IntArray
    truncated: NDArray[np.bool_]
    tokens: IntArray

    def __post_init__(self) -> None:
        shape = self.correct.shape
        if len(shape) != 2 or shape[0] != len(self.question_ids) or 0 in shape:
            raise ValueError(f"correct has shape {shape}, expected (questions, samples) for {len(self.question_ids)} question ids")
        for name, values in (("answer_class", self.answer_class), ("truncated", self.truncated), ("tokens", self.tokens)):
            if values.shape != shape:
                raise ValueError(f"{name} has shape {values.shape}, expected {shape} like correct")
        strange = np.setdiff1d(self.correct, [CORRECT, WRONG, UNDECIDED])
        if strange.size:
            raise ValueError(f"correct holds {strange.tolist()}, expected only 1, 0 and -1 (undecided)")

    @property
    def samples(self) -> int:
        """Samples a question."""
        return self.correct.shape[1]


@dataclass(frozen=True, slots=True)
class Score:
    """One metric of one checkpoint.

    ``per_question`` (Q,): the score of each question, undecided counted as not correct. ``per_question_upper`` (Q,): undecided counted as
    correct. ``samples``: roll-outs a question that the score uses. ``per_question_undecided`` (Q,) int64: undecided verdicts among those;
    for majority@k, 1 where the winning answer is undecided.
    """

    name: str
    per_question: FloatArray
    per_question_upper: FloatArray
    samples: int
    per_question_undecided: IntArray

    @property
    def undecided(self) -> int:
        """Undecided verdicts over all questions."""
        return int(self.per_question_undecided.sum())

    @property
    def n(self) -> int:
        """Questions."""
        return self.per_question.size

    @property
    def denominator(self) -> int:
        """Roll-outs behind the score."""
        return self.n * self.samples

    @property
    def value(self) -> float:
        """Mean over questions."""
        return float(self.per_question.mean())

    @property
    def upper(self) -> float:
        """Mean over questions if every undecided roll-out were correct."""
        return float(self.per_question_upper.mean())


def mean_at(correct: Verdicts, k: int) -> FloatArray:
    """(Q,) share of correct among the first k of (Q, n) samples."""
    return (_first(correct, k) == CORRECT).mean(axis=1)


def pass_at(correct: Verdicts, k: int) -> FloatArray:
    """(Q,) unbiased pass@k = 1 - C(n-c, k) / C(n, k), c correct of all n samples (Chen et al., arXiv:2107.03374)."""
    n, c = correct.shape[1], (correct == CORRECT).sum(axis=1)
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} needs between 1 and {n} samples a question, {n} are there")
    drawn = np.arange(k)
    return 1.0 - np.prod(np.maximum(n - c[:, None] - drawn, 0) / (n - drawn), axis=1)


def majority_at(correct: Verdicts, answer_class: IntArray, k: int) -> Verdicts:
    """(Q,) verdict of the most frequent answer among the first k samples.

    Unparsed samples have no vote; ties go to the answer that came first; a question without any answer is wrong. The verdict of a class
    is that of its first member.
    """
    verdicts, classes = _first(correct, k), _first(answer_class, k)
    return np.array([_majority(v, c) for v, c in zip(verdicts, classes, strict=True)], dtype=np.int8)


def _majority(verdicts: Verdicts, classes: IntArray) -> int:
    winner = majority_class(classes)
    return WRONG if winner is None else int(verdicts[np.argmax(classes == winner)])


def majority_class(classes: IntArray) -> int | None:
    """The most frequent class of (n,) ids numbered by first appearance, the smallest id on a tie; None when nothing was parsed."""
    votes = classes[classes != NO_ANSWER]
    return int(np.bincount(votes).argmax()) if votes.size else None


def _first(values: NDArray[np.generic], k: int) -> NDArray[np.generic]:
    if not 1 <= k <= values.shape[1]:
        raise ValueError(f"the first {k} samples were asked for, {values.shape[1]} are there")
    return values[:, :k]


def _optimistic(correct: Verdicts) -> Verdicts:
    return np.abs(correct).astype(np.int8)


def _undecided(correct: Verdicts) -> IntArray:
    return (correct == UNDECIDED).sum(axis=1, dtype=np.int64)


def _mean_score(graded: Graded, k: int) -> Score:
    undecided = _undecided(graded.correct[:, :k])
    return Score(f"mean@{k}", mean_at(graded.correct, k), mean_at(_optimistic(graded.correct), k), k, undecided)


def _pass_score(graded: Graded, k: int) -> Score:
    undecided = _undecided(graded.correct)
    return Score(f"pass@{k}", pass_at(graded.correct, k), pass_at(_optimistic(graded.correct), k), graded.samples, undecided)


def _majority_score(graded: Graded, k: int) -> Score:
    verdicts = majority_at(graded.correct, graded.answer_class, k)
    lower, upper = (verdicts == CORRECT).astype(np.float64), (verdicts != WRONG).astype(np.float64)
    return Score(f"majority@{k}", lower, upper, k, _undecided(verdicts[:, None]))


def _greedy_score(graded: Graded, k: int) -> Score:
    score = _mean_score(graded, 1)
    return Score("greedy", score.per_question, score.per_question_upper, 1, score.per_question_undecided)


def _share(name: str, values: NDArray[np.generic]) -> Score:
    per_question = values.mean(axis=1, dtype=np.float64)
    return Score(name, per_question, per_question, values.shape[1], np.zeros(len(values), dtype=np.int64))


Metric = Callable[[Graded, int], Score]

METRICS: Mapping[str, Metric] = {
    "mean": _mean_score,
    "pass": _pass_score,
    "majority": _majority_score,
    "greedy": _greedy_score,
    "unparsed": lambda graded, k: _share("unparsed", graded.answer_class == NO_ANSWER),
    "truncated": lambda graded, k: _share("truncated", graded.truncated),
    "undecided": lambda graded, k: _share("undecided", graded.correct == UNDECIDED),
    "tokens": lambda graded, k: _share("tokens", graded.tokens),
}
"""Every metric by the part of its name before ``@``. Shares and tokens are over all samples, in [0, 1] and tokens a roll-out."""

_WITH_K = frozenset({"mean", "pass", "majority"})


def parse_metric(name: str) -> tuple[str, int]:
    """``"mean@16"`` -> ``("mean", 16)``, ``"greedy"`` -> ``("greedy", 1)``; ValueError lists the metrics for any other name."""
    base, at, k = name.partition("@")
    if base in METRICS and (base in _WITH_K) == bool(at) and (not at or (k.isdecimal() and int(k) >= 1)):
        return base, int(k) if at else 1
    known = sorted(f"{metric}@k" if metric in _WITH_K else metric for metric in METRICS)
    raise ValueError(f"unknown metric {name!r}, expected one of {', '.join(known)}")


def measure(names: Iterable[str], sampled: Graded, greedy: Graded | None = None) -> tuple[Score, ...]:
    """One score a name. ``greedy`` holds one greedy roll-out a question and serves the metric of that name alone."""
    scores = []
    for name in names:
        base, k = parse_metric(name)
        if base == "greedy" and greedy is None:
            raise ValueError("the metric 'greedy' needs greedy roll-outs, and none were given")
        scores.append(METRICS[base](greedy if base == "greedy" and greedy is not None else sampled, k))
    return tuple(scores)


def _verdict(answer: str, gold: str) -> int:
    verdicts = {grading.Verdict.YES: CORRECT, grading.Verdict.NO: WRONG, grading.Verdict.UNDECIDED: UNDECIDED}
    return verdicts[grading.equal(answer, gold)]


def grade(answers: Sequence[str | None], gold: str) -> Verdicts:
    """(n,) verdicts of extracted answers; no answer is wrong. Each distinct answer is compared with gold once."""
    known = {answer: _verdict(answer, gold) for answer in dict.fromkeys(answers) if answer is not None}
    return np.array([WRONG if answer is None else known[answer] for answer in answers], dtype=np.int8)


def gold_of(question_id: str, gold: Mapping[str, str]) -> str:
    """The question's gold answer; KeyError that names it when gold has none."""
    if question_id not in gold:
        raise KeyError(f"question {question_id!r} has no gold answer; gold holds {len(gold)} ids")
    return gold[question_id]


def grade_pool(rows: Iterable[PoolRow], gold: Mapping[str, str]) -> Graded:
    """Grade the pool of one checkpoint, a row a question, every row with the same number of samples.

    ``gold``: question id -> answer. Errors name the question that is missing from gold, comes twice, or has another number of samples.
    """
    rows = list(rows)
    if not rows:
        raise ValueError("an empty pool has no scores")
    first, seen = rows[0], set[str]()
    for row in rows:
        if row.question_id in seen or row.step != first.step:
            raise ValueError(
                f"question {row.question_id!r} (step {row.step}) comes twice or beside step {first.step}: one checkpoint a call"
            )
        if len(row.answers) != len(first.answers):
            raise ValueError(f"question {row.question_id!r} has {len(row.answers)} samples, {first.question_id!r} has {len(first.answers)}")
        seen.add(row.question_id)
    return Graded(
        question_ids=tuple(row.question_id for row in rows),
        correct=np.stack([grade(row.answers, gold_of(row.question_id, gold)) for row in rows]),
        answer_class=np.stack([grading.classes(row.answers) for row in rows]),
        truncated=np.array([row.truncated for row in rows], dtype=bool),
        tokens=np.array([row.tokens for row in rows], dtype=np.int64),
    )
