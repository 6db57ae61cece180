"""Two-digit sums and products: questions that a small language model answers by halves, in the order of a seeded shuffle."""

from collections.abc import Mapping

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
            made.append((Question(f"{a}x{b}", f"What is {a} * {b}?"), str(a * b)))
        else:
            a, b = (b, a) if exchanged[place] else (a, b)
            made.append((Question(f"{a}+{b}", f"What is {a} + {b}?"), str(a + b)))
    return made
