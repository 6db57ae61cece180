"""Reflexive, symmetric, transitive, and independent of order, on generated answers."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.grammar import answer
from ttrlab.grading import Verdict, classes, equal

generated = st.integers(0, 10**9).map(lambda seed: answer(random.Random(seed)))
near = st.sampled_from(
    [
        "28",
        "28%",
        "0.28",
        "x=28",
        "28 cm",
        "28 m",
        "y=28",
        "7/25",
        "28^\\circ",
        "\\$28",
        "2800%",
        "1,2",
        "(1,2)",
        "\\{1,2\\}",
        "x=1,2",
        None,
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(generated, st.text(max_size=40)))
def test_an_answer_equals_itself(text: str) -> None:
    assert equal(text, text) is Verdict.YES


@settings(max_examples=150, deadline=None)
@given(generated, generated)
def test_a_verdict_is_symmetric(a: str, b: str) -> None:
    assert equal(a, b) is equal(b, a)


@settings(max_examples=200, deadline=None)
@given(st.lists(near, min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_classes_are_the_same_partition_in_every_order(group: list[str | None], shuffle: random.Random) -> None:
    turned = list(range(len(group)))
    shuffle.shuffle(turned)
    before, after = classes(group), classes([group[k] for k in turned])
    together = before[:, None] == before[None, :]
    assert np.array_equal(together[np.ix_(turned, turned)], after[:, None] == after[None, :])
    for value in set(after.tolist()):
        assert len({classes([g]).size for g in group}) == 1
        assert (value == -1) == all(group[turned[k]] is None for k in np.flatnonzero(after == value))
