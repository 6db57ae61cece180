"""The most frequent answers are read without the parser, into the tree that the parser would build."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttrlab.grading.parse import parse
from ttrlab.grading.text import spell
from ttrlab.grading.tree import plain_number

SHAPES = (
    "{0}",
    "-{0}",
    "{0}.{1}",
    "-{0}.{1}",
    "{0}/{2}",
    "-{0}/{2}",
    r"\frac{{{0}}}{{{2}}}",
    r"-\dfrac{{{0}}}{{{2}}}",
    r"\tfrac{{{0}}}{{{2}}}",
)
whole = st.integers(0, 10**15 - 1)


@given(shape=st.sampled_from(SHAPES), first=whole, digits=st.text("0123456789", min_size=1, max_size=15), bottom=st.integers(1, 10**15 - 1))
def test_a_plain_number_has_the_parsers_tree(shape: str, first: int, digits: str, bottom: int) -> None:
    answer = shape.format(first, digits, bottom)
    tree = plain_number(answer)
    assert tree is not None
    assert tree == parse(spell(answer))


@pytest.mark.parametrize(
    "answer", ["007", "1/0", "1,000", " 5", "1e5", "5.", ".5", "5%", "+5", "1" * 16, r"\frac{1}{0}", r"\frac12", "3 1/2", "٣"]
)
def test_every_other_answer_is_left_to_the_parser(answer: str) -> None:
    assert plain_number(answer) is None
