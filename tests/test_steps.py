"""Steps end at blank lines, on token boundaries, and always cover the whole response."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttrlab.steps import step_ends


@pytest.mark.parametrize(
    "tokens, ends",
    [
        ((), ()),
        (("a", "b"), (2,)),
        (("a", "\n\n", "b"), (2, 3)),
        (("a.\n\n", "b"), (1, 2)),
        (("a", "\n", "\n", "b"), (3, 4)),
        (("a", "\n", "", "\n", "b"), (4, 5)),
        (("a", "\n", "b"), (3,)),
        (("a", "\n\n", "\n\n", "b"), (3, 4)),
        (("a", "\n\n", "\n", "b"), (3, 4)),
        (("\n\n", "a", "\n\n", "b"), (3, 4)),
        (("a", "\n\n", ""), (3,)),
        (("a", "\n\n"), (2,)),
        (("\n\n",), (1,)),
        (("a\n\nb", "c"), (1, 2)),
    ],
)
def test_a_blank_line_closes_the_step_that_holds_it(tokens, ends):
    assert step_ends(tokens) == ends


@given(st.lists(st.sampled_from(["a", "\n", "\n\n", "", " ", "b\n", "\nc", ".\n\n"]), min_size=1))
def test_steps_partition_all_tokens_and_each_holds_text_unless_none_does(tokens):
    ends = step_ends(tokens)
    assert ends[-1] == len(tokens)
    assert list(ends) == sorted(set(ends))
    if any(token.strip() for token in tokens):
        assert all("".join(tokens[a:b]).strip() for a, b in zip((0, *ends), ends, strict=False))
