"""Rows through rules: the lines that every stream gets for one batch. No gold is read here, except the oracle's."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ttrlab.adapt.decide import decide
from ttrlab.adapt.record import decision_row
from ttrlab.evaluate.metrics import Verdicts, gold_of, grade
from ttrlab.files import dumps
from ttrlab.pools import PoolRow
from ttrlab.rectifier.select import SELECTORS
from ttrlab.rectifier.stored import StoredJudge
from ttrlab.replay.groups import group_from_pool
from ttrlab.replay.spec import JUDGED, ReplaySpec
from ttrlab.rewards import Rule
from ttrlab.types import Question, RolloutGroup

VISITS, SELECTIONS = "_visits", "_selections"
"""Streams beside the methods' (whose names begin with a letter or a digit): what the audit needs of a group besides the decisions, and
deployment's choices."""


@dataclass(frozen=True)
class Replayer:
    """Decides batches of rows. ``prompts``: question id -> text, for the questions that are known. ``gold``: question id -> answer, given
    only where the oracle is among the methods, and read by nothing else. ``proofs``: the grader's cache, for workers."""

    spec: ReplaySpec
    prompts: Mapping[str, str]
    gold: Mapping[str, str] | None = None
    proofs: Path | None = None

    def lines(self, rows: Sequence[PoolRow], streams: Collection[str]) -> dict[str, list[str]]:
        """Stream -> one JSON line a group. ``streams``: method names, ``VISITS``, ``SELECTIONS``."""
        rules = {name: self.spec.methods[name].rule for name in streams if name in self.spec.methods}
        shared = {need for rule in rules.values() for need in rule.needs} - {"correct"}
        groups = [group_from_pool(row, self._question(row), shared) for row in rows]
        made = {name: self._decisions(rule, rows, groups) for name, rule in rules.items()}
        if VISITS in streams:
            made[VISITS] = [visit(row, group) for row, group in zip(rows, groups, strict=True)]
        if SELECTIONS in streams:
            made[SELECTIONS] = [selection(row, group) for row, group in zip(rows, groups, strict=True)]
        return {name: [dumps(value) + "\n" for value in values] for name, values in made.items()}

    def _decisions(self, rule: Rule, rows: Sequence[PoolRow], groups: Sequence[RolloutGroup]) -> list[dict[str, Any]]:
        seen = [_only_needed(group, rule.needs) for group in groups]
        if rule.needs_gold:
            seen = [group_from_pool(row, group.question, rule.needs, self._grade) for row, group in zip(rows, groups, strict=True)]
        judge = StoredJudge.from_pool("stored", rows, self._asked(rows)) if rule.needs_judge else None
        try:
            decided, decisions = decide(rule, seen, judge)
        except KeyError as error:
            raise ValueError(f"rule {rule.rule!r}: {error.args[0]}") from error
        return [decision_row(group, made, row.step) for group, made, row in zip(decided, decisions, rows, strict=True)]

    def _grade(self, question_id: str, answers: Sequence[str | None]) -> Verdicts:
        if self.gold is None:
            raise ValueError(f"question {question_id!r}: the rule asks for gold, and this replay has none")
        return grade(answers, gold_of(question_id, self.gold))

    def _question(self, row: PoolRow) -> Question:
        return Question(row.question_id, self.prompts.get(row.question_id, row.question_id))

    def _asked(self, rows: Iterable[PoolRow]) -> dict[str, str]:
        return {row.question_id: self._question(row).prompt for row in rows}


def _only_needed(group: RolloutGroup, needs: Iterable[str]) -> RolloutGroup:
    """The group as the loop forms it for one rule: with the signals that this rule asks for and no other."""
    return replace(group, signals={name: group.signals[name] for name in needs if name in group.signals})


def visit(row: PoolRow, group: RolloutGroup) -> dict[str, Any]:
    """What the audit needs of a group: its answers, their classes, and how clear the vote was."""
    first, second = np.sort(np.concatenate([group.counts, [0, 0]]))[::-1][:2].tolist()
    return {
        "question_id": row.question_id,
        "step": row.step,
        "answers": list(row.answers),
        "answer_class": group.answer_class.tolist(),
        "margin": (first - second) / group.n,
    }


def selection(row: PoolRow, group: RolloutGroup) -> dict[str, Any]:
    """What every selector chooses from a judged group, and the roll-outs whose judgements it used; tokens null where not stored."""
    judged = replace(group, signals={name: row.signals[name] for name in JUDGED})
    tokens = row.signals.get("judge_tokens")
    chosen = {name: select(judged) for name, select in SELECTORS.items()}
    return {
        "question_id": row.question_id,
        "step": row.step,
        "selected": {
            name: {
                "label": choice.label,
                "judgements": len(choice.used),
                "output_tokens": None if tokens is None else float(tokens[list(choice.used)].sum()),
            }
            for name, choice in chosen.items()
        },
    }
