"""Ten thousand strings of a grammar: no exception, no slow one, the same verdict from both sides."""

import random
import time

import numpy as np
import pytest

from tests.grading.grammar import answer
from ttrlab.grading import Verdict, classes, equal, explain, normalize

STRINGS = 10_000
SECONDS = 2.0


@pytest.mark.timeout(120)
def test_ten_thousand_strings_have_keys_and_equal_themselves_in_under_a_minute() -> None:
    draw = random.Random(7)
    begin = time.perf_counter()
    slow = []
    for _ in range(STRINGS):
        text = answer(draw)
        start = time.perf_counter()
        assert normalize(text)
        assert equal(text, text) is Verdict.YES
        if time.perf_counter() - start > SECONDS:
            slow.append(text)
    assert not slow
    assert time.perf_counter() - begin < 60


@pytest.mark.timeout(120)
def test_verdicts_on_fuzzed_pairs_are_symmetric_and_in_time() -> None:
    draw = random.Random(11)
    for _ in range(1_500):
        a, b = answer(draw), answer(draw)
        start = time.perf_counter()
        assert explain(a, b) == explain(b, a)
        assert time.perf_counter() - start < 2 * SECONDS, (a, b)


def test_order_of_fuzzed_answers_changes_only_the_numbering() -> None:
    draw = random.Random(13)
    for _ in range(40):
        group = [answer(draw) for _ in range(8)] * 2
        turned = list(range(len(group)))
        draw.shuffle(turned)
        before, after = classes(group), classes([group[k] for k in turned])
        together = before[:, None] == before[None, :]
        assert np.array_equal(together[np.ix_(turned, turned)], after[:, None] == after[None, :])
