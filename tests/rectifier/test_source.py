import numpy as np
import pytest

from ttrlab.pools import PoolRow
from ttrlab.rectifier.prompt import JudgeItem
from ttrlab.rectifier.source import CATEGORIES, Candidate, category_weights, source_candidates, source_report

ALPHAS = (1, 3, 3, 1)


def row(answers, truncated=None):
    n = len(answers)
    texts = tuple(f"solution {i}" for i in range(n))
    return PoolRow("s1", 0, 0, texts, tuple(answers), tuple(truncated or [False] * n), (5,) * n)


def gather(answers, classes, labels, truncated=None, fits=lambda item: True):
    return source_candidates(row(answers, truncated), "1+1=?", np.array(classes), np.array(labels, dtype=np.int8), fits)


def pool_of(sizes):
    """Candidates with the given number in each category."""
    return [
        Candidate(f"q{i}", i, JudgeItem("q", "s", "a"), name.endswith("correct"), name)
        for name, size in zip(CATEGORIES, sizes, strict=True)
        for i in range(size)
    ]


def test_correctness_and_consensus_give_the_four_categories():
    kept, _ = gather("aabcc" + "a", [0, 0, 1, 2, 2, 0], [0, 0, 1, 0, 0, 0])
    assert [c.category for c in kept] == ["majority_wrong"] * 2 + ["minority_correct"] + ["minority_wrong"] * 2 + ["majority_wrong"]
    right, _ = gather("ab", [0, 1], [1, 0])
    assert [c.category for c in right] == ["majority_correct", "minority_wrong"]


def test_a_tied_majority_goes_to_the_answer_seen_first():
    kept, _ = gather("abba", [0, 1, 1, 0], [0, 1, 1, 0])
    assert [c.category for c in kept] == ["majority_wrong", "minority_correct", "minority_correct", "majority_wrong"]


def test_roll_outs_that_cannot_be_judged_are_dropped_counted_and_still_vote():
    kept, dropped = gather(
        ["a", None, "b", "b", "b", "a"],
        [0, -1, 1, 1, 1, 0],
        [1, 0, 0, -1, 0, 1],
        truncated=[False, True, True, False, False, False],
        fits=lambda item: item.solution != "solution 5",
    )
    assert [(c.index, c.category) for c in kept] == [(0, "minority_correct"), (4, "majority_wrong")]
    assert dropped == {"unparsed": 1, "truncated": 1, "undecided": 1, "too_long": 1}


def test_a_question_without_any_answer_gives_no_candidates():
    kept, dropped = gather([None, None], [-1, -1], [0, 0])
    assert kept == []
    assert dropped == {"unparsed": 2}


def test_unaligned_labels_are_refused_by_name():
    with pytest.raises(ValueError, match=r"question 's1': 2 roll-outs, but classes \(3,\)"):
        gather("ab", [0, 1, 1], [1, 0])


def test_the_weights_of_table_6():
    weights = category_weights(pool_of([1621, 440, 153, 1434]), ALPHAS)
    assert [round(weights[name], 4) for name in CATEGORIES] == [0.2813, 3.1091, 8.9412, 0.3180]


@pytest.mark.parametrize("sizes", [[1621, 440, 153, 1434], [5, 0, 2, 1], [0, 0, 0, 3]])
def test_weights_sum_to_the_number_of_candidates_even_when_a_category_is_empty(sizes):
    weights = category_weights(pool_of(sizes), ALPHAS)
    assert sum(weights[name] * size for name, size in zip(CATEGORIES, sizes, strict=True) if size) == pytest.approx(sum(sizes))


def test_no_candidates_at_all_is_an_error():
    with pytest.raises(ValueError, match="no source candidates"):
        category_weights([], ALPHAS)


def test_the_report_gives_counts_priorities_weights_and_what_was_dropped():
    report = source_report(pool_of([2, 1, 0, 1]), {"truncated": 3}, ALPHAS)
    assert (report["candidates"], report["questions"], report["dropped"]) == (4, 2, {"truncated": 3})
    assert report["categories"]["majority_wrong"] == {"candidates": 1, "priority": 3, "weight": pytest.approx(4 * 3 / 5)}
    assert report["categories"]["minority_correct"] == {"candidates": 0, "priority": 3, "weight": None}


def test_candidates_survive_their_stored_form():
    kept, _ = gather("ab", [0, 1], [1, 0])
    assert [Candidate.from_json(c.to_json()) for c in kept] == kept
    with pytest.raises(ValueError, match="'odd' is not one of"):
        Candidate.from_json({**kept[0].to_json(), "category": "odd"})
