"""All questions of one model on one benchmark: fed cell by cell, read question by question."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ttrlab import grading
from ttrlab.benchmarks import Gold
from ttrlab.config.evidence import RegimeRule
from ttrlab.evaluate.metrics import gold_of, grade
from ttrlab.evaluate.regimes import regime
from ttrlab.pools import PoolRow
from ttrlab.rectifier.judge import JudgedItem, JudgeItem, content_key
from ttrlab.report.page.samples import Decision, Sample, cut, main_label, merged, shown, visit
from ttrlab.types import Question

REGIME = "regime"
"""Tag of a question's regime; measured on the base model's roll-outs where the benchmark does not give it."""


class Book:
    """What is known of the questions of one pair. ``scores``: method -> question id -> its score, mean over seeds. ``rule``: of regimes."""

    def __init__(
        self, questions: Sequence[Question], gold: Mapping[str, Gold], scores: Mapping[str, Mapping[str, float]], rule: RegimeRule
    ) -> None:
        self.questions, self.gold, self.scores, self.rule = questions, gold, scores, rule
        self._prompts = {question.id: question.prompt for question in questions}
        self._answers = {question_id: entry.answer for question_id, entry in gold.items()}
        self._visits: dict[str, list[dict[str, Any]]] = {question.id: [] for question in questions}
        self._samples: dict[str, list[Sample]] = {question.id: [] for question in questions}
        self._regimes: dict[str, str] = {}
        self._verdicts: dict[tuple[str, str], int] = {}

    def add_base(self, rows: Iterable[PoolRow], run: int) -> None:
        """The base model's evaluation roll-outs of one seed: shown as they are, and what regimes are measured on."""
        for row in rows:
            classes = grading.classes(row.answers)
            self._samples[row.question_id].append(Sample(row, classes, run))
            correct = grade(row.answers, gold_of(row.question_id, self._answers))
            self._regimes[row.question_id] = regime(correct, classes, self.rule)

    def add_training(
        self,
        visits: Iterable[tuple[PoolRow, Decision]],
        method: str,
        run: int,
        full: Mapping[str, frozenset[int]],
        judgements: Mapping[str, JudgedItem],
    ) -> None:
        """The visits of one adaptation. ``full``: question id -> steps whose roll-outs are kept to be shown. ``judgements``: by content."""
        for row, decision in visits:
            self._visits[row.question_id].append(visit(row, decision, method, run, self._grade))
            if row.question_id in full and row.step in full[row.question_id]:
                classes = np.asarray(decision["answer_class"], dtype=np.int64)
                decided, said = [(method, False, decision)], self._judged(row, judgements)
                self._samples[row.question_id].append(Sample(row, classes, run, [method], decided, said))

    def _judged(self, row: PoolRow, judgements: Mapping[str, JudgedItem]) -> list[JudgedItem | None]:
        """What a judge said of each roll-out, none where it was not asked."""
        if not judgements:
            return []
        prompt = self._prompts[row.question_id]
        items = [None if answer is None else JudgeItem(prompt, text, answer) for text, answer in zip(row.texts, row.answers, strict=True)]
        return [None if item is None else judgements.get(content_key(item)) for item in items]

    def add_replay(self, decisions: Iterable[Decision], method: str, source: str, run: int) -> None:
        """What ``method`` would have decided on the stored roll-outs of the adaptation by ``source``."""
        kept = {(question_id, sample.row.step): sample for question_id, samples in self._samples.items()
                for sample in samples if sample.made_by == [source] and sample.run == run}  # fmt: skip
        for decision in decisions:
            key = (decision["question_id"], decision["step"])
            if key in kept and method != source:
                kept[key].decisions.append((method, True, decision))

    def _grade(self, question_id: str, answer: str) -> int:
        key = (question_id, answer)
        if key not in self._verdicts:
            self._verdicts[key] = int(grade([answer], gold_of(question_id, self._answers))[0])
        return self._verdicts[key]

    def index(self, methods: Sequence[str], informed: Collection[str]) -> list[dict[str, Any]]:
        """One short entry a question, for the list, its search and its filters; lists are aligned with ``methods``.

        ``split``: two methods gave the same roll-outs different labels; ``informed`` methods, which read gold, do not count.
        """
        return [self._entry(question, methods, informed) for question in self.questions]

    def _entry(self, question: Question, methods: Sequence[str], informed: Collection[str]) -> dict[str, Any]:
        visits = self._visits[question.id]
        ends = [[one for one in visits if one["method"] == method] for method in methods]
        tags: dict[str, str | int] = dict(self.gold[question.id].tags)
        if question.id in self._regimes:
            tags.setdefault(REGIME, self._regimes[question.id])
        labels = [
            {main_label(made) for method, _, made in sample.decisions if method not in informed}
            for sample in merged(self._samples[question.id])
        ]
        return {
            "id": question.id,
            "prompt": cut(question.prompt, 400),
            "gold": self.gold[question.id].answer,
            "tags": [[name, str(value)] for name, value in sorted(tags.items())],
            "scores": [self.scores[method].get(question.id) if method in self.scores else None for method in methods],
            "first": [_at(own, min) for own in ends],
            "last": [_at(own, max) for own in ends],
            "split": any(len(given) > 1 for given in labels),
        }

    def chunk(self, question: Question) -> tuple[dict[str, Any], list[list[str]]]:
        """Everything on one question: its data, and the texts of its samples, kept apart because they are long."""
        samples = merged(self._samples[question.id])
        data = {"id": question.id, "prompt": question.prompt, "gold": self.gold[question.id].answer, "visits": self._visits[question.id],
                "samples": [shown(sample, self._grade) for sample in samples]}  # fmt: skip
        return data, [[cut(text) for text in sample.row.texts] for sample in samples]


def _at(visits: Sequence[Mapping[str, Any]], end: Any) -> str:
    """The label's state at the first or last visit of the first seed; empty without a visit."""
    own = [one for one in visits if one["seed"] == min(visit["seed"] for visit in visits)]
    return str(end(own, key=lambda one: one["step"])["state"]) if own else ""
