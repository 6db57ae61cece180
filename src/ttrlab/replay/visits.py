"""The groups of a finished replay, joined with gold: answers, verdicts, and the groups of questions that each belongs to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ttrlab.benchmarks import Gold
from ttrlab.evaluate.metrics import UNDECIDED, WRONG, Verdicts, grade, majority_class
from ttrlab.files import read_jsonl
from ttrlab.types import IntArray

MARGINS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Upper ends of the ranges of the vote margin, (largest - second largest class) / roll-outs."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One group as the audit sees it: (n,) classes and verdicts, and the groups of questions that it belongs to."""

    question_id: str
    step: int
    answer_class: IntArray
    correct: Verdicts
    strata: tuple[str, ...]

    @property
    def vote(self) -> int | None:
        """The plain vote's label."""
        return majority_class(self.answer_class)

    def verdict(self, label: int | None) -> int:
        """The verdict of a class: that of its first member; no label is wrong."""
        return WRONG if label is None or label < 0 else int(self.correct[np.argmax(self.answer_class == label)])


def read_visits(path: Path, gold: Mapping[str, Gold] | None) -> Iterator[Visit]:
    """The visits of a finished replay, joined with gold. ValueError names a question that gold lacks."""
    for row in read_jsonl(path):
        classes = np.asarray(row["answer_class"], dtype=np.int64)
        correct: Verdicts = np.full(classes.size, UNDECIDED, dtype=np.int8)
        tags: tuple[str, ...] = ()
        if gold is not None:
            if row["question_id"] not in gold:
                raise ValueError(f"question {row['question_id']!r} has no gold answer; gold holds {len(gold)} ids")
            entry = gold[row["question_id"]]
            correct, tags = grade(row["answers"], entry.answer), tuple(f"{k}={v}" for k, v in sorted(entry.tags.items()))
        yield Visit(row["question_id"], row["step"], classes, correct, ("all", margin_range(row["margin"]), *tags))


def margin_range(margin: float) -> str:
    """The name of the range that a vote margin falls into: ``margin=0``, ``margin=0-0.25`` (its upper end included), ..."""
    place = int(np.searchsorted(MARGINS, margin - 1e-9))
    return "margin=0" if place == 0 else f"margin={MARGINS[place - 1]:g}-{MARGINS[place]:g}"
