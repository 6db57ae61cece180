import numpy as np
import pytest

from ttrlab.rectifier.judgement import UNRESOLVED, Judgement
from ttrlab.rectifier.reward import MALFORMED, candidate_advantages, judgement_reward, next_size, successful

SIZES = (8, 16, 32)
MALFORMED_JUDGEMENT = Judgement(UNRESOLVED, "", "no object")
FOR_CORRECT = [-1, -0.62, -0.28, 0.02, 0.28, 0.5, 0.68, 0.82, 0.92, 0.98, 1]


@pytest.mark.parametrize("score, expected", list(enumerate(FOR_CORRECT)))
def test_the_reward_is_the_squared_distance_to_the_truth(score, expected):
    assert judgement_reward(Judgement(score, "It is 20."), True) == pytest.approx(expected)
    assert judgement_reward(Judgement(10 - score, "It is 20."), False) == pytest.approx(expected)


def test_a_conflict_of_reason_and_score_costs_a_tenth():
    assert judgement_reward(Judgement(9, "So it is wrong."), True) == pytest.approx(0.98 - 0.1)
    assert judgement_reward(Judgement(9, "So it is correct."), True) == pytest.approx(0.98)


@pytest.mark.parametrize("correct", [True, False])
def test_a_malformed_judgement_earns_less_than_the_worst_valid_one(correct):
    assert judgement_reward(MALFORMED_JUDGEMENT, correct) == MALFORMED == -1.2
    worst = Judgement(0 if correct else 10, "correct" if correct else "wrong")
    assert judgement_reward(worst, correct) == pytest.approx(-1.1)


@pytest.mark.parametrize(
    "score, correct, expected", [(5, True, True), (4, True, False), (4, False, True), (5, False, False), (10, True, True), (0, False, True)]
)
def test_success_is_the_right_side_of_the_threshold(score, correct, expected):
    assert successful(Judgement(score, "r"), correct) is expected


def test_a_malformed_judgement_is_never_successful():
    assert not successful(MALFORMED_JUDGEMENT, True)
    assert not successful(MALFORMED_JUDGEMENT, False)


@pytest.mark.parametrize(
    "rewards, successes, expected",
    [
        ([1.0] * 8, [True] * 8, None),
        ([-1.2] * 8, [False] * 8, 16),
        ([-1.2] * 16, [False] * 16, 32),
        ([-1.2] * 32, [False] * 32, None),
        ([0.28] * 8, [False] * 8, 16),
        ([1.0] * 7 + [0.98], [True] * 8, None),
        ([1.0] * 7 + [-1.2], [True] * 7 + [False], None),
    ],
)
def test_equal_rewards_that_are_not_all_successes_are_drawn_on(rewards, successes, expected):
    assert next_size(np.array(rewards), successes, SIZES) == expected


def test_a_group_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"sizes \(8, 16, 32\).*got 9 rewards"):
        next_size(np.zeros(9), [True] * 9, SIZES)


def test_the_category_weight_multiplies_the_advantages():
    rewards = np.array([1.0, 1.0, -1.2, -1.2])
    assert candidate_advantages(rewards, 3.0) == pytest.approx(3 * candidate_advantages(rewards, 1.0))
    assert not candidate_advantages(np.full(8, -1.2), 8.94).any()
