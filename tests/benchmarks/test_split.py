from collections import Counter

import pytest

from ttrlab.benchmarks.split import split_items
from ttrlab.benchmarks.table import Item
from ttrlab.config.catalogue import Split

WORDS = [a + b for a in "abcdefghij" for b in "abcdefghij"]


def items(families):
    """Item ``word/k`` for k < size of each family."""
    return [
        Item(f"{word}/{k}", f"Sum of {word} and {k}", "0", {}, "t")
        for word, size in zip(WORDS, families, strict=False)
        for k in range(size)
    ]


def ids(parts):
    return {part: [item.id for item in members] for part, members in parts.items()}


def test_parts_have_their_sizes_are_disjoint_and_keep_the_order_of_the_source():
    table = items([1] * 100)
    parts = ids(split_items(table, Split(parts={"fit": 20, "calibration": 10, "target": 70}, use="fit"), "toy"))
    assert {part: len(members) for part, members in parts.items()} == {"fit": 20, "calibration": 10, "target": 70}
    assert Counter(name for members in parts.values() for name in members) == Counter(item.id for item in table)
    assert all(members == sorted(members) for members in parts.values())


def test_a_seed_fixes_the_parts_whatever_part_is_used_and_in_whatever_order_they_are_written():
    table = items([1] * 30)
    first = split_items(table, Split(parts={"fit": 10, "target": 20}, use="fit"), "a")
    second = split_items(table, Split(parts={"target": 20, "fit": 10}, use="target"), "b")
    assert first == second
    assert ids(first) != ids(split_items(table, Split(seed=1, parts={"fit": 10, "target": 20}, use="fit"), "a"))


def test_a_family_never_crosses_parts():
    parts = split_items(items([3] * 20), Split(parts={"fit": 15, "target": 45}, use="fit"), "toy")
    words = [{item.id.split("/")[0] for item in members} for members in parts.values()]
    assert words[0].isdisjoint(words[1])


def test_rows_that_no_part_asks_for_are_left_out_evenly():
    """Each of 10 rows is in a part of 5 about half the time: 200 seeds, binomial standard deviation 7.1."""
    counts = Counter(
        item.id for seed in range(200) for item in split_items(items([1] * 10), Split(seed=seed, parts={"fit": 5}, use="fit"), "toy")["fit"]
    )
    assert len(counts) == 10
    assert all(70 <= count <= 130 for count in counts.values())


def test_more_rows_asked_for_than_there_are_is_refused():
    with pytest.raises(ValueError, match=r"benchmark 'toy': the split \{'fit': 11\} needs 11 rows, there are 10"):
        split_items(items([1] * 10), Split(parts={"fit": 11}, use="fit"), "toy")


def test_a_family_that_fits_no_part_is_refused():
    with pytest.raises(ValueError, match="a family of 4 alike questions fits none of the parts"):
        split_items(items([4]), Split(parts={"fit": 2, "target": 2}, use="fit"), "toy")
