import numpy as np
import pytest
from judging import judged_group

from ttrlab.rectifier.metrics import COUNTS, RATES, compare_judges, judge_counts, judge_rates, selection_correct
from ttrlab.rectifier.select import Selection


def named(counts):
    return dict(zip(RATES, judge_rates(counts).tolist(), strict=True))


def test_invalid_judgements_are_errors_on_right_and_on_wrong_candidates():
    counts = judge_counts([9, 3, -1, 9, 3, -1], [True, True, True, False, False, False])
    assert dict(zip(COUNTS, counts.tolist(), strict=True)) == {
        "right": 3,
        "wrong": 3,
        "accurate": 2,
        "wrong_accepted": 1,
        "correct_withheld": 2,
        "invalid": 2,
    }
    assert named(counts) == pytest.approx({"accuracy": 1 / 3, "wrong_accepted": 1 / 3, "correct_withheld": 2 / 3, "invalid": 1 / 3})


def test_counts_add_up_over_questions():
    halves = [judge_counts([9, 2], [True, False]), judge_counts([5, 5], [True, False])]
    assert (sum(halves) == judge_counts([9, 2, 5, 5], [True, False, True, False])).all()


def test_a_rate_without_candidates_is_not_a_number():
    rates = named(judge_counts([9], [True]))
    assert np.isnan(rates["wrong_accepted"])
    assert rates["accuracy"] == 1


def test_unaligned_grades_are_refused():
    with pytest.raises(ValueError, match="a score and a grade a candidate"):
        judge_counts([9], [True, False])


def weights(questions, resamples=2000):
    return np.random.default_rng(0).multinomial(questions, np.full(questions, 1 / questions), resamples) / questions


def test_two_judges_on_identical_pools_are_compared_in_pairs():
    rng = np.random.default_rng(1)
    correct = [rng.random(8) < 0.5 for _ in range(60)]
    poor = np.stack([judge_counts(rng.integers(0, 11, 8), c) for c in correct])
    good = np.stack([judge_counts(np.where(rng.random(8) < 0.9, np.where(c, 9, 1), 5), c) for c in correct])
    changes = compare_judges(poor, good, weights(60))
    assert changes["accuracy"].difference == pytest.approx(changes["accuracy"].second - changes["accuracy"].first)
    assert changes["accuracy"].low > 0.2
    assert changes["accuracy"].low < changes["accuracy"].difference < changes["accuracy"].high
    assert changes["wrong_accepted"].high < 0
    assert (changes["invalid"].difference, changes["invalid"].low, changes["invalid"].high) == (0, 0, 0)


def test_equal_judges_differ_by_exactly_nothing():
    counts = np.stack([judge_counts([9, 1, 7], [True, False, False]) for _ in range(5)])
    assert all((c.difference, c.low, c.high) == (0, 0, 0) for c in compare_judges(counts, counts, weights(5)).values())


def test_different_pools_cannot_be_compared():
    one, other = judge_counts([9], [True])[None], judge_counts([9], [False])[None]
    with pytest.raises(ValueError, match="identical pools"):
        compare_judges(one, other, weights(1))


@pytest.mark.parametrize(
    "label, grades, expected",
    [(0, [1, 0, 0], 1), (1, [1, 0, 0], 0), (1, [1, -1, -1], -1), (1, [1, -1, 1], 1), (None, [1, 1, 1], 0)],
)
def test_a_selection_is_as_right_as_its_first_decided_member(label, grades, expected):
    group = judged_group([0, 1, 1], [5, 5, 5.0])
    assert selection_correct(group, Selection(label), np.array(grades, dtype=np.int8)) == expected


def test_grades_must_be_one_a_roll_out():
    with pytest.raises(ValueError, match="3 roll-outs, but"):
        selection_correct(judged_group([0, 1, 1], [5, 5, 5.0]), Selection(0), np.array([1], dtype=np.int8))
