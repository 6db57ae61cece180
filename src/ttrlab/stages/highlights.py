"""Write what a replay shows at a glance, as Markdown: disagreements, disputed questions, regimes, answers that could not be compared."""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from ttrlab.benchmarks import read_gold, read_questions
from ttrlab.config.evidence import RegimeRule
from ttrlab.evaluate.metrics import grade
from ttrlab.evaluate.regimes import regimes
from ttrlab.files import read_jsonl, write_text
from ttrlab.grading import explain
from ttrlab.pools import PoolRow, read_pool
from ttrlab.report import highlights
from ttrlab.report.tables import markdown
from ttrlab.stages.command import run

QUESTIONS = 3
"""Disputed questions that are shown in full."""


def regime_table(rows: list[PoolRow], gold: dict[str, str], made: list[highlights.Decision]) -> pd.DataFrame:
    """Questions in each regime, the share of right roll-outs in them, and how often the vote is right."""
    verdicts = [grade(row.answers, gold[row.question_id]) for row in rows]
    member = [np.asarray(decision["answer_class"]) for decision in made]
    vote = [np.bincount(one[one >= 0]).argmax() if (one >= 0).any() else -1 for one in member]
    right = [bool((verdict[one == label] == 1).any()) for verdict, one, label in zip(verdicts, member, vote, strict=True)]
    named = regimes(np.array(verdicts), np.array(member), RegimeRule())
    table = pd.DataFrame({"regime": named, "right": [(verdict == 1).mean() for verdict in verdicts], "vote": right})
    found = table.groupby("regime").agg(questions=("right", "size"), right=("right", "mean"), vote=("vote", "mean"))
    found = found.reindex(["saturated", "contested", "floor"]).dropna().reset_index()
    shares = {name: [f"{100 * share:.1f}" for share in found[name]] for name in ("right", "vote")}
    return found.assign(questions=found["questions"].astype(int), **shares)


def highlight_parts(
    rows: list[PoolRow], gold: dict[str, str], texts: dict[str, str], decisions: dict[str, list[highlights.Decision]]
) -> list[str]:
    """The paragraphs and tables, in order. ``texts``: question id -> prompt; ``decisions``: method -> one a row, ``core``'s among them."""

    def grader(question: str, answer: str) -> int:
        return int(grade([answer], gold[question])[0])

    given = highlights.labels(rows, {method: made for method, made in decisions.items() if method != "oracle"})
    pairs = highlights.disagreements(rows, given, grader)
    groups, rollouts = len(rows), sum(len(row.texts) for row in rows)
    parts = [
        markdown(
            regime_table(rows, gold, decisions["core"]), f"Regimes of {groups} questions on {rollouts} roll-outs; right and vote in %."
        ),
        markdown(
            pairs[pairs["differ"] > 0].head(10), "Where rules give the same roll-outs different labels, the ten pairs that differ most."
        ),
    ]
    for place in highlights.most_disputed(rows, given, grader, QUESTIONS):
        row = rows[place]
        table = highlights.classes(row, decisions["core"][place], grader)
        caption = (
            f"**{' '.join(texts[row.question_id].split())}** Gold `{gold[row.question_id]}`. Rewarded: {highlights.chosen(given, place)}."
        )
        parts.append(markdown(table.head(6).assign(answer=[f"`{answer}`" for answer in table["answer"].head(6)]), caption))
    return [*parts, undecided_part(rows, gold)]


def undecided_part(rows: list[PoolRow], gold: dict[str, str]) -> str:
    """Every answer that could not be compared with gold, with the reason; none of them counts as wrong."""
    missing, rollouts = highlights.undecided(rows, gold, explain), sum(len(row.texts) for row in rows)
    shown = f"Undecided: {missing['roll-outs'].sum()} of {rollouts} roll-outs, {len(missing)} answers"
    reasons = ", ".join(f"{reason} ({times})" for reason, times in Counter(missing["reason"]).most_common())
    return markdown(missing, f"{shown}: {reasons}.") if len(missing) else f"{shown}.\n"


def main() -> None:
    """Write ``--out``, one Markdown file."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("replay", "pool", "questions", "gold", "out"):
        parser.add_argument(f"--{option}", required=True, type=Path)
    arguments = parser.parse_args()
    rows = list(read_pool(arguments.pool))
    gold = {name: entry.answer for name, entry in read_gold(arguments.gold).items()}
    texts = {question.id: question.prompt for question in read_questions(arguments.questions)}
    decisions = {path.stem: list(read_jsonl(path)) for path in sorted((arguments.replay / "decisions").glob("*.jsonl"))}
    write_text(arguments.out, "\n".join(highlight_parts(rows, gold, texts, decisions)))


if __name__ == "__main__":
    run(main)
