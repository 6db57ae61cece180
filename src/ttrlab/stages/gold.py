"""Grading against gold inside an adaptation: the oracle's alone. No other adaptation is given a gold file."""

from collections.abc import Sequence
from pathlib import Path

from ttrlab.adapt.decide import Grade
from ttrlab.benchmarks import read_gold
from ttrlab.evaluate.metrics import Verdicts, gold_of, grade


def grader(path: Path) -> Grade:
    """A function from (question id, answers) to (n,) int8 in {1, 0, -1 undecided}; an unparsed answer is 0."""
    gold = {question_id: entry.answer for question_id, entry in read_gold(path).items()}

    def grade_answers(question_id: str, answers: Sequence[str | None]) -> Verdicts:
        return grade(answers, gold_of(question_id, gold))

    return grade_answers
