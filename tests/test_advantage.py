"""GRPO advantages: verl's statistics, exact zeros where there is no contrast, weights after normalisation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttrlab.advantage import group_advantage, question_advantage
from ttrlab.types import RewardDecision

TWO_OF_EIGHT = np.array([1.0, 1, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("ddof, high, low", [(1, 1.620182, -0.540061), (0, 1.732047, -0.577349)])
def test_two_of_eight_rewarded_gives_the_golden_advantages(ddof, high, low):
    assert group_advantage(TWO_OF_EIGHT, ddof=ddof) == pytest.approx([high] * 2 + [low] * 6, abs=5e-7)


def test_dr_grpo_leaves_the_centred_reward():
    assert group_advantage(TWO_OF_EIGHT, normalise="none") == pytest.approx([0.75] * 2 + [-0.25] * 6, abs=1e-15)


@pytest.mark.parametrize("rewards", [[0.0], [1.0], [0.3] * 7, [0.0] * 4, [-7.0, -7.0]])
def test_equal_rewards_and_single_rollouts_have_exactly_zero_advantage(rewards):
    assert not group_advantage(np.array(rewards)).any()


def test_rounding_noise_between_rewards_is_no_preference():
    assert not group_advantage(np.array([1.0, 1.0 - 1e-15, 1.0])).any()


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=32), st.floats(-3, 3))
def test_advantages_sum_to_zero_and_ignore_a_constant(rewards, constant):
    advantages = group_advantage(np.array(rewards))
    assert abs(advantages.sum()) < 1e-6
    if np.ptp(rewards) > 1e-3:
        assert group_advantage(np.array(rewards) + constant) == pytest.approx(advantages, abs=1e-6)


def test_statistics_are_over_the_trained_rollouts_only():
    decision = RewardDecision(np.array([1.0, 0, 1, 1, 1, 1]), 0)
    assert question_advantage(decision, 2) == pytest.approx(group_advantage(np.array([1.0, 0.0])))


def test_the_weight_multiplies_the_normalised_advantage():
    plain, gated = RewardDecision(TWO_OF_EIGHT, 0), RewardDecision(TWO_OF_EIGHT, 0, weight=0.25)
    assert question_advantage(gated, 8) == pytest.approx(0.25 * question_advantage(plain, 8))


def test_an_abstaining_question_has_no_advantage():
    assert not question_advantage(RewardDecision(np.zeros(4), None, abstained=True), 4).any()


@pytest.mark.parametrize("n_train", [0, 9])
def test_more_trained_than_voted_is_refused(n_train):
    with pytest.raises(ValueError, match=r"n_train must lie in 1\.\.8"):
        question_advantage(RewardDecision(TWO_OF_EIGHT, 0), n_train)
