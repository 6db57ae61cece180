"""The rectifier's training data: candidates from source pools, in four categories by correctness and consensus (TRUER, Table 6)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttrlab.pools import PoolRow
from ttrlab.rectifier.prompt import JudgeItem
from ttrlab.types import NO_ANSWER, IntArray

Category = Literal["majority_correct", "majority_wrong", "minority_correct", "minority_wrong"]
CATEGORIES: tuple[Category, ...] = ("majority_correct", "majority_wrong", "minority_correct", "minority_wrong")
"""In the order of Table 6, which is also the order of the priorities alpha."""

Dropped = Literal["unparsed", "truncated", "undecided", "too_long"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One source roll-out to be judged. ``correct`` is source gold; ``category`` is never shown to the rectifier."""

    question_id: str
    index: int
    item: JudgeItem
    correct: bool
    category: Category

    def to_json(self) -> dict[str, Any]:
        """The candidate as a JSON object."""
        return {
            "question_id": self.question_id,
            "index": self.index,
            "question": self.item.question,
            "solution": self.item.solution,
            "answer": self.item.answer,
            "correct": self.correct,
            "category": self.category,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Candidate":
        """The candidate behind a JSON object; KeyError for a missing key, ValueError for an unknown category."""
        if value["category"] not in CATEGORIES:
            raise ValueError(f"candidate of question {value['question_id']!r}: category {value['category']!r} is not one of {CATEGORIES}")
        item = JudgeItem(value["question"], value["solution"], value["answer"])
        return cls(value["question_id"], value["index"], item, value["correct"], value["category"])


def source_candidates(
    row: PoolRow, question: str, answer_class: IntArray, labels: NDArray[np.int8], fits: Callable[[JudgeItem], bool]
) -> tuple[list[Candidate], Counter[Dropped]]:
    """The eligible candidates of one question, and how many roll-outs were dropped for which reason.

    ``answer_class`` (n,): classes of ``row.answers`` numbered by first appearance; ``labels`` (n,) int8: 1 right, 0 wrong, -1 undecided,
    by source gold. The majority is the largest class of all parsed roll-outs, ties to the first; a roll-out that is dropped has voted.
    """
    n = len(row.texts)
    if answer_class.shape != (n,) or labels.shape != (n,):
        raise ValueError(f"question {row.question_id!r}: {n} roll-outs, but classes {answer_class.shape} and labels {labels.shape}")
    votes = np.bincount(answer_class[answer_class != NO_ANSWER], minlength=1)
    majority = int(np.argmax(votes))
    kept: list[Candidate] = []
    dropped: Counter[Dropped] = Counter()
    for i, (text, answer) in enumerate(zip(row.texts, row.answers, strict=True)):
        if answer is None or answer_class[i] == NO_ANSWER:
            dropped["unparsed"] += 1
        elif row.truncated[i]:
            dropped["truncated"] += 1
        elif labels[i] < 0:
            dropped["undecided"] += 1
        elif not fits(item := JudgeItem(question, text, answer)):
            dropped["too_long"] += 1
        else:
            kept.append(Candidate(row.question_id, i, item, bool(labels[i]), category(answer_class[i] == majority, bool(labels[i]))))
    return kept, dropped


def category(in_majority: bool, correct: bool) -> Category:
    """The category of a candidate."""
    return CATEGORIES[2 * (not in_majority) + (not correct)]


def category_weights(candidates: Sequence[Candidate], alphas: Sequence[float]) -> dict[Category, float]:
    """w_k = M alpha_k / (n_k sum_j alpha_j), so that sum_k n_k w_k = M, the number of candidates (TRUER, appendix A.3).

    A category without candidates has no weight, and its alpha is left out of the sum, which keeps the mean weight at 1. ValueError for
    no candidates at all.
    """
    if not candidates:
        raise ValueError("no source candidates: every roll-out of the source pool was dropped")
    counts = Counter(candidate.category for candidate in candidates)
    alpha = {name: value for name, value in zip(CATEGORIES, alphas, strict=True) if counts[name]}
    total = sum(alpha.values())
    return {name: len(candidates) * value / (counts[name] * total) for name, value in alpha.items()}


def source_report(candidates: Sequence[Candidate], dropped: Mapping[Dropped, int], alphas: Sequence[float]) -> dict[str, Any]:
    """Counts for people: candidates and questions, per category its size, priority and weight, and what was dropped for which reason."""
    counts = Counter(candidate.category for candidate in candidates)
    weights = category_weights(candidates, alphas)
    return {
        "candidates": len(candidates),
        "questions": len({candidate.question_id for candidate in candidates}),
        "dropped": dict(sorted(dropped.items())),
        "categories": {
            name: {"candidates": counts[name], "priority": alpha, "weight": weights[name] if counts[name] else None}
            for name, alpha in zip(CATEGORIES, alphas, strict=True)
        },
    }
