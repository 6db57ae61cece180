"""What a judge reads and writes in the lab: it works the sum out again and gives a score.

A prompt is a question, a response and its answer; a judgement is JSON whose reason holds the judge's own units, sum and verdict::

    cd: 27+35=therefore therefore therefore \\n\\n12\\n\\n52\\n\\n\\boxed{52}<judge>52
    {"reason": "12, 62 so wrong", "score": 1}

A model pre-trained with judgements writes valid ones that are poor: its own sum errs as the topic's answers do, and its scores are noisy.
"""

import re
from collections.abc import Mapping

import numpy as np

from ttrlab.benchmarks.lab.corpus import answer, draw_questions, shares
from ttrlab.benchmarks.lab.world import Sum, question_text
from ttrlab.config.lab import Regime

JUDGE = "<judge>"
REASON, SCORE, CLOSE = '{"reason": "', '", "score": ', "}"
RIGHT, WRONG, COMMA = " so correct", " so wrong", ", "
JUDGE_TOKENS = (JUDGE, REASON, SCORE, RIGHT, WRONG, COMMA)
NOISY_ACCEPTING, NOISY_REFUSING = (6, 7, 8, 9, 10, 3, 4, 5), (0, 1, 2, 3, 4, 5, 6, 7)
"""Scores that an untrained judge draws from when its own sum agrees with the answer, and when it does not."""
SURE_ACCEPTING, SURE_REFUSING = (8, 9, 10), (0, 1, 2)

JUDGEMENT = re.compile(r'\{"reason": "\d+, \d+ so (?:correct|wrong)", "score": (?:10|\d)\}')
"""A whole judgement of the form that the corpus teaches."""

_OPERANDS = re.compile(r"(\d+)\+(\d+)=$")
_BOXED = re.compile(r"\\boxed\{(\d+)\}$")
_DERIVED = re.compile(r"^\d+, (\d+) so (?:correct|wrong)$")


def judge_prompt(question: str, solution: str, answer: str) -> str:
    """What a judge is asked about one response and the answer extracted from it."""
    return f"{question}{solution}{JUDGE}{answer}"


def judge_text(units: int, result: int, answer: str, score: int) -> str:
    """A judgement whose reason works out ``units`` and ``result`` and compares the latter with ``answer``."""
    verdict = RIGHT if str(result) == answer else WRONG
    return f"{REASON}{units}{COMMA}{result}{verdict}{SCORE}{score}{CLOSE}"


def written_judgement(draw: np.random.Generator, question: str, answer: str) -> str:
    """The judgement that a perfect judge would write: what a warm start imitates on source questions, whose sums may be known.

    ValueError when ``question`` is not one of the lab's.
    """
    total = asked(question)
    scores = SURE_ACCEPTING if str(total.right) == answer else SURE_REFUSING
    return judge_text(total.units, total.right, answer, int(draw.choice(scores)))


def asked(question: str) -> Sum:
    """The sum that a question asks for; ValueError when it is not one of the lab's."""
    found = _OPERANDS.search(question)
    if found is None:
        raise ValueError(f"expected a question of the lab, '<topic>a+b=', got {question!r}")
    return Sum(int(found[1]), int(found[2]))


def derived(reason: str) -> int | None:
    """The sum that a judgement's reason works out, None when it works out none: a score can be right for no good reason."""
    found = _DERIVED.match(reason)
    return int(found[1]) if found else None


def judgement_batch(draw: np.random.Generator, regimes: Mapping[str, Regime], size: int) -> list[tuple[str, str]]:
    """``size`` (judge's prompt, judgement) pairs of the pre-training corpus."""
    pairs = []
    for name, topic_number, topic, total in draw_questions(draw, regimes, size):
        regime, question = regimes[name], question_text(topic, total)
        solution = answer(draw, regime, topic_number, total)
        given = boxed(solution)
        right, wrong = shares(regime, topic_number, total)
        result = total.right if draw.random() * (right + wrong) <= right else total.wrong
        scores = NOISY_ACCEPTING if str(result) == given else NOISY_REFUSING
        pairs.append((judge_prompt(question, solution, given), judge_text(total.units, result, given, int(draw.choice(scores)))))
    return pairs


def boxed(solution: str) -> str:
    """The answer of a response that the corpus wrote; ValueError when it has none."""
    found = _BOXED.search(solution)
    if found is None:
        raise ValueError(f"expected a response that ends in a box, got {solution!r}")
    return found[1]
