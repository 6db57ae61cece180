import pytest

from ttrlab.benchmarks import Overlap, overlaps, require_disjoint
from ttrlab.benchmarks.text import family, normalised
from ttrlab.types import Question

TARGET = (Question("t1", "What is $3 + 4$?"), Question("t2", "Name the largest prime below 100."))


@pytest.mark.parametrize(
    "source, expected",
    [
        (Question("t1", "Something else"), [Overlap("t1", "t1", "id")]),
        (Question("s", "  what is\n$3 + 4$?"), [Overlap("s", "t1", "text")]),
        (Question("s", "What is $12 + 35$?"), [Overlap("s", "t1", "family")]),
        (Question("s", "What is $3 - 4$?"), []),
        (Question("t1", "What is $3 + 4$?"), [Overlap("t1", "t1", "id")]),
        (Question("t2", "What is $5 + 6$?"), [Overlap("t2", "t2", "id"), Overlap("t2", "t1", "family")]),
    ],
)
def test_a_source_question_overlaps_by_id_text_or_family(source, expected):
    assert overlaps([source], TARGET) == expected


def test_one_source_question_may_overlap_several_targets():
    target = (Question("a", "Add 1 and 2"), Question("b", "Add 3 and 4"))
    assert [pair.target for pair in overlaps([Question("s", "Add 5 and 6")], target)] == ["a", "b"]


def test_overlap_is_refused_with_every_offending_id():
    source = (Question("s1", "What is $12 + 35$?"), Question("s2", "Name the largest prime below 100."))
    with pytest.raises(ValueError, match=r"share 2 question\(s\):\n  s1 = t1 \(same family\)\n  s2 = t2 \(same text\)"):
        require_disjoint(source, TARGET)


def test_disjoint_sets_pass():
    require_disjoint([Question("s", "How deep is the sea?")], TARGET)
    assert overlaps([Question("s", "How deep is the sea?")], TARGET) == []


@pytest.mark.parametrize("left, right", [("1,000 apples", "7 apples"), ("x = 3.5", "x = 12"), ("12/7", "3/4"), ("Ｘ１", "x2")])
def test_a_family_ignores_numbers_case_width_and_space(left, right):
    assert family(left) == family(right)


@pytest.mark.parametrize("left, right", [("2 + 3", "2 - 3"), ("sum of 3 and 4", "sum of 3, 4 and 5")])
def test_another_operation_or_another_count_of_numbers_is_another_family(left, right):
    assert family(left) != family(right)


def test_normalised_text_keeps_numbers():
    assert normalised(" A  b\t1 ") == "a b 1"
    assert normalised("1") != normalised("2")
