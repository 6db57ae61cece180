"""The roll-out graph: edges inside answer classes only, weights relative to the most confident parsed roll-out."""

import numpy as np
import pytest

from ttrlab.consensus import affinity as graph
from ttrlab.consensus import readout as read

CLASSES = np.array([0, 1, 0, -1, 1])


def test_no_edge_between_answers_and_none_to_unparsed_rollouts():
    a = graph.affinity(graph.same_answer(CLASSES), np.ones((5, 5)), kappa=0.1)
    assert np.argwhere(a > 0).tolist() == [[0, 2], [1, 4], [2, 0], [4, 1]]
    assert not np.diagonal(a).any()


@pytest.mark.parametrize(
    "kernel, cosine, expected", [("half", 0.0, 0.5), ("half", 1.0, 1.0), ("cos", 0.0, 0.0), ("cos", 0.4, 0.4), ("cos", -0.4, 0.0)]
)
def test_the_reasoning_kernel_maps_cosine_to_affinity(kernel, cosine, expected):
    assert graph.reasoning_kernel(np.array([[cosine]]), kernel)[0, 0] == expected


def test_kappa_is_the_floor_of_agreeing_rollouts():
    k_ans = graph.same_answer(np.zeros(2, dtype=np.int64))
    assert graph.affinity(k_ans, np.full((2, 2), 0.5), 0.1)[0, 1] == pytest.approx(0.55)
    assert graph.affinity(k_ans, np.full((2, 2), 0.5), 1.0)[0, 1] == 1.0


def test_confidence_is_relative_to_the_most_confident_parsed_rollout():
    c, parsed = np.array([-1.0, -1.25, 5.0]), np.array([True, True, False])
    assert graph.confidence_weights(c, parsed, 0.25) == pytest.approx([1.0, np.exp(-1), 0.0])
    assert np.array_equal(graph.confidence_weights(c + 64, parsed, 0.25), graph.confidence_weights(c, parsed, 0.25))


@pytest.mark.parametrize("c", [[-1e6, 0.0], [-1e-300, 0.0], [1e5, -1e5]])
def test_extreme_confidences_neither_overflow_nor_vanish_at_the_top(c):
    weights = graph.confidence_weights(np.array(c), np.ones(2, bool), 0.25)
    assert weights.max() == 1.0
    assert np.isfinite(weights).all()


def test_nothing_parsed_has_no_weight():
    assert not graph.confidence_weights(np.array([1.0]), np.array([False]), 1).any()


def test_calibration_multiplies_by_the_geometric_mean():
    assert graph.calibrated(np.ones((2, 2)), np.array([1.0, 0.25]))[0, 1] == 0.5


@pytest.mark.parametrize("shift, across, diagonal", [("full", 0.2, 0.1), ("block", 0.0, 0.1), ("none", 0.0, 0.0)])
def test_the_shift_fills_what_its_reading_says(shift, across, diagonal):
    w = graph.payoff(np.zeros((5, 5)), graph.same_answer(CLASSES), 0.1, 0.2, shift)
    assert w[0, 1] == across
    assert w[0, 0] == pytest.approx(diagonal)


def test_readout_matrices_differ_on_the_diagonal_and_in_confidence():
    k_ans = graph.same_answer(CLASSES)
    a = graph.affinity(k_ans, np.ones((5, 5)), 1.0)
    assert read.readout(a, a / 2, k_ans, "A") is a
    assert np.array_equal(read.readout(a, a / 2, k_ans, "A_prime"), a / 2)
    assert np.diagonal(read.readout(a, a / 2, k_ans, "A_selfloop")).tolist() == [1, 1, 1, 0, 1]


def test_rewards_are_relative_to_the_best_supported_and_residues_are_zero():
    m = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]])
    x = np.array([0.5, 0.5 - 1e-8, 1e-8])
    assert read.graded_rewards(m, x, np.ones(3, bool))[2] == 0.0
    assert read.graded_rewards(m, x, np.ones(3, bool)).max() == 1.0
    assert not read.graded_rewards(np.zeros((3, 3)), x, np.ones(3, bool)).any()
    assert read.graded_rewards(m, x, np.array([False, True, True]))[0] == 0.0
