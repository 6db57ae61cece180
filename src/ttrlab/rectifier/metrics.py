"""How good a judge is (TRUER, Table 13) and whether a selected answer is right (Table 15).

Counts are per question, so that a bootstrap over questions can resample them, paired where two judges read identical pools.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttrlab.rectifier.judgement import ACCEPT
from ttrlab.rectifier.select import Selection
from ttrlab.types import FloatArray, IntArray, RolloutGroup

RATES = ("accuracy", "wrong_accepted", "correct_withheld", "invalid")
"""Table 13's columns. Accuracy is of all candidates, an invalid judgement being an error; ``wrong_accepted`` of the wrong ones;
``correct_withheld`` of the right ones, rejected or invalid; ``invalid`` of all."""

COUNTS = ("right", "wrong", "accurate", "wrong_accepted", "correct_withheld", "invalid")
"""Columns of the counts behind them."""


def judge_counts(scores: Sequence[int], correct: Sequence[bool]) -> IntArray:
    """(6,) ``COUNTS`` of one question's judgements. ``scores`` (n,): 0..10, or -1 for unresolved; ``correct`` (n,) by gold; undecided
    candidates are left out by the caller."""
    s, c = np.asarray(scores, dtype=np.int64), np.asarray(correct, dtype=bool)
    if s.shape != c.shape:
        raise ValueError(f"a score and a grade a candidate, got {s.shape} and {c.shape}")
    valid, accepted = s >= 0, s >= ACCEPT
    columns = (c, ~c, valid & (accepted == c), accepted & ~c, ~accepted & c, ~valid)
    return np.array([column.sum() for column in columns], dtype=np.int64)


def judge_rates(counts: IntArray | FloatArray) -> FloatArray:
    """(..., 4) ``RATES`` of (..., 6) counts, summed over questions beforehand; NaN where there is nothing to divide by."""
    right, wrong, accurate, accepted, withheld, invalid = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    judged = right + wrong
    parts, wholes = (accurate, accepted, withheld, invalid), (judged, wrong, right, judged)
    return np.stack([_share(part, whole) for part, whole in zip(parts, wholes, strict=True)], axis=-1)


@dataclass(frozen=True, slots=True)
class RateChange:
    """One column of Table 13: both judges' rates, their difference (second minus first) and its paired percentile interval."""

    first: float
    second: float
    difference: float
    low: float
    high: float


def compare_judges(first: IntArray, second: IntArray, weights: FloatArray, level: float = 0.95) -> dict[str, RateChange]:
    """Two judges on identical pools. ``first``, ``second`` (Q, 6) counts of the same questions; ``weights`` (B, Q) bootstrap weights.

    Each resample draws questions once for both judges and divides resampled sums. Resamples without any wrong (or right) candidate have
    no such rate and are left out of its interval. ValueError when the pools differ.
    """
    if first.shape != second.shape or (first[:, :2] != second[:, :2]).any():
        raise ValueError("the judges did not read identical pools: right and wrong candidates differ by question")
    before, after = judge_rates(first.sum(axis=0)), judge_rates(second.sum(axis=0))
    resampled = judge_rates(weights @ second) - judge_rates(weights @ first)
    return {name: _change(before[i], after[i], resampled[:, i], level) for i, name in enumerate(RATES)}


def compare_shares(first: IntArray, second: IntArray, weights: FloatArray, level: float = 0.95) -> RateChange:
    """The change of one share, such as that of right reasons: ``first``, ``second`` (Q, 2) counts of part and whole by question, resampled
    as in ``compare_judges``; the wholes may differ."""
    before, after = (_share(counts[:, 0].sum(), counts[:, 1].sum()) for counts in (first, second))
    drawn = [_share(*np.moveaxis(weights @ counts, -1, 0)) for counts in (first, second)]
    return _change(before, after, drawn[1] - drawn[0], level)


def _change(before: FloatArray, after: FloatArray, resampled: FloatArray, level: float) -> RateChange:
    """Resamples without a denominator (NaN) are left out of the interval."""
    drawn, tail = resampled[np.isfinite(resampled)], 100 * (1 - level) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail]) if drawn.size else (np.nan, np.nan)
    return RateChange(float(before), float(after), float(after - before), float(low), float(high))


def selection_correct(group: RolloutGroup, selection: Selection, correct: NDArray[np.int8]) -> int:
    """1 right, 0 wrong, -1 undecided: the grade of the selected class. ``correct`` (n,) int8 per roll-out, by gold.

    No answer is wrong. Members of one class that were graded apart are settled by the first decided one in sampling order.
    """
    if correct.shape != (group.n,):
        raise ValueError(f"question {group.question.id!r}: {group.n} roll-outs, but {correct.shape} grades")
    if selection.label is None:
        return 0
    return next((int(grade) for grade in correct[group.answer_class == selection.label] if grade >= 0), -1)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)
