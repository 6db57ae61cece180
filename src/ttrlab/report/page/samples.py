"""What the question viewer shows, from stored roll-outs, decisions and gold. Model text goes into values only, never into keys."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ttrlab.evaluate.metrics import CORRECT
from ttrlab.pools import PoolRow
from ttrlab.rectifier.judge import JudgedItem
from ttrlab.signals.similarity import tfidf_cosine
from ttrlab.types import NO_ANSWER, IntArray

Decision = Mapping[str, Any]
"""One row of a decisions file."""

Grader = Callable[[str, str], int]
"""(question id, answer) -> verdict 1, 0 or -1."""

TEXT_LIMIT = 6000
"""Characters of a roll-out that the page keeps; a longer one loses its middle."""

SHOWN_SIGNALS = ("mean_logprob", "trace_confidence", "entropy", "self_certainty", "judge_score")
"""Stored signals that the viewer shows for each roll-out."""

LABEL_STATES = {1: "right", 0: "wrong", -1: "undecided"}


@dataclass(slots=True)
class Sample:
    """One group of roll-outs that is shown in full, and every decision that was made on it.

    ``decisions``: (method, whether it was replayed, its row); ``made_by``: the cells' methods whose training drew this group, none for the
    base model's evaluation. ``judged``: what a judge said of each roll-out; empty where none was asked.
    """

    row: PoolRow
    answer_class: IntArray
    run: int
    made_by: list[str] = field(default_factory=list)
    decisions: list[tuple[str, bool, Decision]] = field(default_factory=list)
    judged: list[JudgedItem | None] = field(default_factory=list)


def class_answers(answers: Sequence[str | None], answer_class: IntArray) -> list[str]:
    """The first answer of every class, by class id."""
    first = {int(label): answer for label, answer in reversed(list(zip(answer_class, answers, strict=True))) if label != NO_ANSWER}
    return [str(first[label]) for label in range(len(first))]


def label_state(decision: Decision, verdicts: Sequence[int]) -> str:
    """``right``, ``wrong``, ``undecided`` or ``none``; with a label a roll-out, the verdict of the most frequent label.

    ``verdicts``: of every answer class.
    """
    label = main_label(decision)
    return "none" if label is None else LABEL_STATES[verdicts[label]]


def main_label(decision: Decision) -> int | None:
    """The class that a decision rewards: its pseudo-label, or the most frequent of its labels; None where there is none."""
    if decision["labels"] is None:
        return None if decision["pseudo_label"] is None else int(decision["pseudo_label"])
    given = np.asarray(decision["labels"])
    given = given[given != NO_ANSWER]
    return int(np.bincount(given).argmax()) if given.size else None


def visit(row: PoolRow, decision: Decision, method: str, run: int, grader: Grader) -> dict[str, Any]:
    """One visit of a question in training, in short: for the course over training. ``run``: the seed of its cell."""
    classes = np.asarray(decision["answer_class"], dtype=np.int64)
    answers = class_answers(row.answers, classes)
    verdicts = [grader(row.question_id, answer) for answer in answers]
    counts = np.bincount(classes[classes != NO_ANSWER], minlength=len(answers))
    label = main_label(decision)
    return {
        "method": method,
        "seed": run,
        "step": row.step,
        "label": None if label is None else answers[label],
        "state": label_state(decision, verdicts),
        "share": None if label is None else counts[label] / classes.size,
        "correct": sum(count for count, verdict in zip(counts, verdicts, strict=True) if verdict == CORRECT) / classes.size,
        "classes": len(answers),
        "weight": decision["weight"],
        "reward": float(np.mean(decision["rewards"])),
        "abstained": decision["abstained"],
    }


def shown(sample: Sample, grader: Grader) -> dict[str, Any]:
    """A sample's numbers as plain data, arrays aligned with the roll-outs."""
    row = sample.row
    answers = class_answers(row.answers, sample.answer_class)
    verdicts = [grader(row.question_id, answer) for answer in answers]
    return {
        "step": row.step,
        "seed": sample.run,
        "by": sample.made_by,
        "classes": sample.answer_class,
        "answers": answers,
        "verdicts": verdicts,
        "truncated": row.truncated,
        "tokens": row.tokens,
        "signals": {name: row.signals[name] for name in SHOWN_SIGNALS if name in row.signals and not np.isnan(row.signals[name]).all()},
        "similarity": similarity(row.texts),
        "judged": [said(judgement) for judgement in sample.judged] if any(sample.judged) else None,
        "decisions": [
            {
                "method": method,
                "replayed": replayed,
                "state": label_state(made, verdicts),
                "label": main_label(made),
                **{key: made[key] for key in ("labels", "rewards", "weight", "abstained", "stats")},
                "each": made["per_rollout"],
            }
            for method, replayed, made in sample.decisions
        ],
    }


def said(judgement: JudgedItem | None) -> dict[str, Any] | None:
    """A judgement as the viewer shows it."""
    if judgement is None:
        return None
    return {"score": judgement.score, "reason": cut(judgement.reason), "fault": judgement.fault}


def similarity(texts: Sequence[str]) -> str:
    """The (n, n) similarity of the reasoning in whole percent, a byte an entry, row by row, in base64."""
    return base64.b64encode(np.rint(100 * tfidf_cosine(texts)).astype(np.uint8).tobytes()).decode("ascii")


def cut(text: str, limit: int = TEXT_LIMIT) -> str:
    """The text, or its first two thirds and last third of ``limit`` characters with a note of how many are missing between."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    head = limit - tail
    return f"{text[:head]}\n[... {len(text) - limit} characters left out ...]\n{text[-tail:]}"


def merged(samples: Iterable[Sample]) -> list[Sample]:
    """Samples with the same roll-outs in one: methods that start from one policy and seed draw the same first group."""
    found: dict[tuple[int, int, tuple[str, ...]], Sample] = {}
    for sample in samples:
        key = (sample.run, sample.row.step, sample.row.texts)
        if key not in found:
            found[key] = Sample(sample.row, sample.answer_class, sample.run)
        one = found[key]
        one.made_by += [method for method in sample.made_by if method not in one.made_by]
        one.judged = one.judged or sample.judged
        one.decisions += [entry for entry in sample.decisions if entry[0] not in {method for method, _, _ in one.decisions}]
    return list(found.values())
