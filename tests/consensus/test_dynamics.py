"""Replicator dynamics: the paper's update, its lemmas, and a stack that changes nothing."""

import numpy as np
import pytest
from graphs import cliques, plain_replicator

from ttrlab.consensus.affinity import payoff, same_answer
from ttrlab.consensus.dynamics import barycentre, replicator


def random_payoffs(rng, count, n, shift="full"):
    for _ in range(count):
        answer_class = np.unique(rng.integers(0, 4, n), return_inverse=True)[1]
        k_ans = same_answer(answer_class)
        a = k_ans * rng.uniform(0.3, 1, (n, n))
        a = (a + a.T) / 2
        np.fill_diagonal(a, 0)
        yield payoff(a, k_ans, 0.1, 0.1, shift)


def test_the_stack_equals_a_plain_loop_over_components():
    rng = np.random.default_rng(0)
    stack = np.stack(list(random_payoffs(rng, 8, 9)))
    found = replicator(stack, np.full((8, 9), 1 / 9))
    for w, x, steps in zip(stack, found.x, found.iterations, strict=True):
        expected, expected_steps = plain_replicator(w, np.full(9, 1 / 9), 1e-6, 200)
        assert steps == expected_steps
        assert x == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_a_question_has_the_same_bits_alone_and_in_a_stack(n):
    stack = np.stack(list(random_payoffs(np.random.default_rng(n), 12, n)))
    x0 = np.full((12, n), 1 / n)
    together = replicator(stack, x0)
    for i in range(12):
        alone = replicator(stack[i : i + 1], x0[i : i + 1])
        assert np.array_equal(alone.x[0], together.x[i])
        assert alone.iterations[0] == together.iterations[i]


@pytest.mark.parametrize("shift", ["full", "block", "none"])
def test_the_objective_never_falls(shift):
    """Lemma 2 (Baum and Eagon)."""
    for w in random_payoffs(np.random.default_rng(5), 10, 16, shift):
        x, values = np.full((1, 16), 1 / 16), []
        for _ in range(60):
            values.append(float(x[0] @ w @ x[0]))
            x = replicator(w[None], x, epsilon=1e-300, t_max=1).x
        assert (np.diff(values) >= -1e-14).all()


def test_the_full_shift_keeps_fixed_points_for_any_constant():
    """Lemma 1: W + C e e^T has the fixed points of W, whatever C."""
    answer_class, a_prime = cliques((3, 6), (1.0, 1.0))
    ratios = []
    for c in (0.1, 1.0, 5.0):
        w = payoff(a_prime, same_answer(answer_class), 0.1, c, "full") - c
        mixed = 1 / np.array([1 - 1 / 3 - 0.1 / 3, 1 - 1 / 6 - 0.1 / 6])
        mass = mixed / mixed.sum()
        x = mass[answer_class] / np.array([3, 6])[answer_class]
        support = (w + c) @ x
        ratios.append(support / (x @ (w + c) @ x))
    assert all(ratio == pytest.approx(1.0, abs=1e-12) for ratio in ratios)
    assert mass[0] == pytest.approx(0.5632, abs=5e-5)


def test_the_block_shift_moves_the_mixed_fixed_point():
    phi = np.array([(1 - 1 / 3 - 0.1 / 3) + 0.1, (1 - 1 / 6 - 0.1 / 6) + 0.1])
    assert (1 / phi / (1 / phi).sum())[0] == pytest.approx(0.5556, abs=5e-5)


def test_no_singleton_is_selected_beside_a_clique():
    """Lemma 3."""
    for shift in ("full", "block", "none"):
        answer_class, a_prime = cliques((1, 1, 1, 2), (1, 1, 1, 0.3), weights=(1, 1, 1, 0.9))
        w = payoff(a_prime, same_answer(answer_class), 0.1, 0.1, shift)
        x = replicator(w[None], barycentre(np.ones((1, 5), bool)), t_max=5000).x[0]
        assert x[:3].sum() < 1e-3, shift


def test_all_distinct_answers_are_degenerate_and_stay_where_they_are():
    answer_class, a_prime = cliques((1, 1, 1), (1, 1, 1))
    for shift in ("block", "none"):
        w = payoff(a_prime, same_answer(answer_class), 0.1, 0.1, shift)
        found = replicator(w[None], np.full((1, 3), 1 / 3))
        assert found.degenerate[0]
        assert found.x[0].tolist() == [1 / 3] * 3


def test_a_mass_of_zero_stays_zero():
    found = replicator(np.ones((1, 3, 3)), np.array([[0.5, 0.5, 0.0]]))
    assert found.x[0, 2] == 0.0


def test_nothing_parsed_has_no_mass_anywhere():
    assert not barycentre(np.zeros((2, 3), bool)).any()


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected \(2, 3, 3\)"):
        replicator(np.ones((2, 3, 2)), np.ones((2, 3)))
