"""The lab's world: two-digit sums with a carry, a planted error that drops the carry, and topics that decide how often it is made.

A question reads ``<topic>27+35=``. A response is three words, the sum of the units, the sum, and the boxed sum::

    therefore therefore therefore\\n\\n12\\n\\n62\\n\\n\\boxed{62}

The error writes 52: it has as many digits and steps as the right answer, so nothing on the surface gives it away.
"""

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from ttrlab.config.lab import REGIMES
from ttrlab.seeds import rng

TIGHT = "therefore "
LOOSE = tuple(
    f"{word} "
    for word in (
        "obviously", "carefully", "meanwhile", "combining", "certainly", "observing", "following", "simplify", "literally", "precisely",
        "counting", "computing", "checking", "naturally", "summing", "deriving",
    )
)  # fmt: skip
TOPICS_PER_REGIME = 8
TARGET_TOPICS, FIT_TOPICS, CALIBRATION_TOPICS = range(5), range(5, 7), range(7, TOPICS_PER_REGIME)
"""Topics of target questions, and of a judge's labelled ones to fit and to calibrate on."""

TOPICS = {regime: tuple(f"{regime[0]}{letter}: " for letter in ascii_lowercase[:TOPICS_PER_REGIME]) for regime in REGIMES}
"""Named by letters: questions of two topics then differ in more than numbers, so source and target share no family of questions."""

REGIME_OF = {topic: regime for regime, topics in TOPICS.items() for topic in topics}
TARGET_PAIRS = 160
SOURCE_PAIRS = 240
CALIBRATION_PAIRS = 80
FIT_PER_TEN = 60


@dataclass(frozen=True, slots=True)
class Sum:
    """Two two-digit numbers whose units carry and whose sum has two digits."""

    a: int
    b: int

    @property
    def units(self) -> int:
        """Sum of the units, 10 to 18."""
        return self.a % 10 + self.b % 10

    @property
    def right(self) -> int:
        """The sum."""
        return self.a + self.b

    @property
    def wrong(self) -> int:
        """The sum without the carry: the planted error."""
        return self.a + self.b - 10

    @property
    def feature(self) -> float:
        """A visible feature in [-1, 1] that moves how often the error is made: the last digit of the question."""
        return (self.b % 10 - 5) / 4


def carrying_sums() -> tuple[Sum, ...]:
    """Every sum of the world, in a fixed shuffled order."""
    sums = [Sum(a, b) for a in range(11, 90) for b in range(11, 90) if a % 10 + b % 10 >= 10 and a + b <= 99]
    return tuple(sums[i] for i in rng(7, "lab", "sums").permutation(len(sums)))


def level(sums: tuple[Sum, ...], most: int) -> tuple[Sum, ...]:
    """The first ``most`` sums of each ten (30 to 39, ...), so that hardly any size of an answer speaks for its being right."""
    kept: dict[int, list[Sum]] = {}
    for total in sums:
        kept.setdefault(total.right // 10, []).append(total)
    return tuple(total for total in sums if total in kept[total.right // 10][:most])


SUMS = carrying_sums()
TARGET_SUMS, SOURCE_SUMS = SUMS[:TARGET_PAIRS], SUMS[TARGET_PAIRS : TARGET_PAIRS + SOURCE_PAIRS]
CORPUS_SUMS = SUMS[TARGET_PAIRS + SOURCE_PAIRS :]
"""Sums of the pre-training corpus: no target and no source question is among them."""
CALIBRATION_SUMS = SOURCE_SUMS[:CALIBRATION_PAIRS]
FIT_SUMS = level(SOURCE_SUMS[CALIBRATION_PAIRS:] + CORPUS_SUMS, FIT_PER_TEN)
"""The two parts of a judge's source. Sums to fit on may be in the corpus: a few held-out ones would be learnt by heart. Errors are 10 too
small, so over all sums a large answer would more often be right."""


def question_text(topic: str, total: Sum) -> str:
    """The prompt."""
    return f"{topic}{total.a}+{total.b}="


def response_text(words: tuple[str, str, str], units: int, result: int) -> str:
    """The response with three words, the written steps and the boxed answer."""
    return f"{''.join(words)}\n\n{units}\n\n{result}\n\n\\boxed{{{result}}}"


def wording(draw: np.random.Generator, choices: int) -> tuple[str, str, str]:
    """Three words: always the same one for ``choices`` = 1, otherwise each drawn from that many."""
    if choices == 1:
        return (TIGHT, TIGHT, TIGHT)
    first, second, third = draw.integers(0, choices, 3)
    return (LOOSE[first], LOOSE[second], LOOSE[third])
