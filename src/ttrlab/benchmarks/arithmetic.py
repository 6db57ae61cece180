"""Two-digit sums and products: questions that a small language model answers by halves, in the order of a seeded shuffle."""

import re
from collections.abc import Mapping

import numpy as np

from ttrlab.config.arithmetic import Operation, TwoDigit
from ttrlab.seeds import rng
from ttrlab.types import Question

PAIRS: Mapping[Operation, tuple[tuple[int, int], ...]] = {
    "sum": tuple((a, b) for a in range(10, 100) for b in range(a, 100)),
    "product": tuple((a, b) for a in range(11, 100) for b in range(2, 10)),
}
"""Every question there is: no sum stands in it twice, also with its numbers exchanged."""


def questions(benchmark: TwoDigit, rows: int) -> list[tuple[Question, str]]:
    """(question, gold) of ``rows`` pairs from place ``first`` of the shuffle on, so that stretches without a common place share no pair.

    Half of the sums have the larger number first. ValueError where the shuffle ends before.
    """
    pairs = PAIRS[benchmark.operation]
    last = benchmark.first + rows
    if last > len(pairs):
        raise ValueError(
            f"first: {benchmark.first} and rows: {rows} given, but there are only {len(pairs)} two-digit {benchmark.operation}s"
        )
    draws = rng(benchmark.seed, "two-digit", benchmark.operation)
    order, exchanged = draws.permutation(len(pairs)), draws.integers(2, size=len(pairs))
    made = []
    for place in order[benchmark.first : last]:
        a, b = pairs[place]
        if benchmark.operation == "product":
            made.append((Question(f"{a}x{b}", benchmark.wording.format(sum=f"{a} * {b}")), str(a * b)))
        else:
            a, b = (b, a) if exchanged[place] else (a, b)
            made.append((Question(f"{a}+{b}", benchmark.wording.format(sum=f"{a} + {b}")), str(a + b)))
    return made


SURE_ACCEPTING, SURE_REFUSING = (8, 9, 10), (0, 1, 2)
"""Scores that a written judgement draws from."""

_ASKED = re.compile(r"(\d+) ([+*]) (\d+)")


def written_judgement(draw: np.random.Generator, question: str, answer: str) -> str:
    """The judgement that a perfect judge would write: what a warm start imitates on source questions.

    ``{"reason": "27 + 35 = 62, so wrong", "score": 1}``. ValueError when ``question`` asks for no sum or product.
    """
    found = _ASKED.search(question)
    if found is None:
        raise ValueError(f"expected a question with a sum or product such as 27 + 35, got {question!r}")
    a, sign, b = int(found[1]), found[2], int(found[3])
    result = a + b if sign == "+" else a * b
    right = str(result) == answer
    score = int(draw.choice(SURE_ACCEPTING if right else SURE_REFUSING))
    return f'{{"reason": "{found[0]} = {result}, so {"correct" if right else "wrong"}", "score": {score}}}'
