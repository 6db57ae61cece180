"""Grade what each selector chooses from a cell's judged endpoint roll-outs, and the judgements themselves, question by question."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ttrlab.benchmarks import read_gold, read_questions
from ttrlab.benchmarks.lab.judging import derived
from ttrlab.config.rectify import SelectSpec
from ttrlab.evaluate.metrics import UNDECIDED, Verdicts, gold_of, grade
from ttrlab.files import read_json, write_text
from ttrlab.grading import use_cache
from ttrlab.pools import PoolRow, read_pool
from ttrlab.rectifier.judge import JudgeItem, item_key
from ttrlab.rectifier.metrics import COUNTS, judge_counts, selection_correct
from ttrlab.rectifier.select import JUDGEMENTS, SELECTORS, selection_cost
from ttrlab.rectifier.stored import read_judgements
from ttrlab.replay.groups import group_from_pool
from ttrlab.stages.command import PROOFS, parse, read_spec, run
from ttrlab.types import Question, RolloutGroup

ReasonOf = Callable[[JudgeItem], str]


def selections(group: RolloutGroup, correct: Verdicts) -> list[dict[str, Any]]:
    """One row a selector: its choice's grade (1, 0, -1 undecided) and what it cost."""
    rows = []
    for name, select in SELECTORS.items():
        choice = select(group)
        cost = selection_cost([group], [choice])
        verdict = selection_correct(group, choice, correct)
        rows.append({"selector": name, "verdict": verdict, "judgements": cost.judgements, "output_tokens": cost.output_tokens})
    return rows


def counts(group: RolloutGroup, correct: Verdicts, gold: str, reason_of: ReasonOf | None) -> dict[str, int]:
    """``COUNTS`` of the judged and decided roll-outs; with ``reason_of`` also how many valid reasons there are, and how many work out
    the gold answer."""
    judged = np.flatnonzero(group.signal("judge_fits").astype(bool) & (correct != UNDECIDED))
    scores = group.signal("judge_score")[judged].astype(np.int64)
    found = dict(zip(COUNTS, judge_counts(scores.tolist(), (correct[judged] == 1).tolist()).tolist(), strict=True))
    if reason_of is None:
        return found
    rollouts = [group.rollouts[i] for i in judged[scores >= 0]]
    reasons = [reason_of(JudgeItem(group.question.prompt, one.text, str(one.answer))) for one in rollouts]
    return {**found, "reasons": len(reasons), "reasons_right": sum(str(derived(reason)) == gold for reason in reasons)}


def judged_group(row: PoolRow, question: Question) -> RolloutGroup:
    """The group of a row of a judged pool."""
    group = group_from_pool(row, question, ())
    return RolloutGroup(question, group.rollouts, group.answer_class, {name: row.signals[name] for name in JUDGEMENTS}, row.seed)


def main() -> None:
    """Write ``--selections``, a row a question and selector, and ``--counts``, a row a question, from the folder ``--judged``."""
    arguments = parse(__doc__, "judged", "questions", "gold", "selections", "counts")
    use_cache(PROOFS)
    spec, judged = read_spec(SelectSpec, arguments.spec), Path(arguments.judged)
    questions = {question.id: question for question in read_questions(Path(arguments.questions))}
    gold = {question_id: entry.answer for question_id, entry in read_gold(Path(arguments.gold)).items()}
    identity, known = read_json(judged / "judge.json")["identity"], read_judgements(judged / "judgements.jsonl")

    def reason_of(item: JudgeItem) -> str:
        return known[item_key(identity, item)].reason

    chosen, counted = [], []
    for row in read_pool(judged / "judged.jsonl.gz"):
        answer = gold_of(row.question_id, gold)
        group, correct = judged_group(row, questions[row.question_id]), grade(row.answers, answer)
        chosen += [{"question_id": row.question_id, **one} for one in selections(group, correct)]
        counted.append({"question_id": row.question_id, **counts(group, correct, answer, reason_of if spec.lab else None)})
    names = {**spec.cell.model_dump(), "judge": spec.judge}
    write_text(Path(arguments.selections), pd.DataFrame(chosen).assign(**names).to_csv(index=False))
    write_text(Path(arguments.counts), pd.DataFrame(counted).assign(**names).to_csv(index=False))


if __name__ == "__main__":
    run(main)
