import numpy as np
import pytest
from scipy import stats

from ttrlab.evaluate import tests


def test_sign_test_of_13_wins_in_14_gives_cores_p_of_0_002():
    result = tests.sign_test(np.array([0.01] * 13 + [-0.01]))
    assert (result.wins, result.n) == (13, 14)
    assert result.p == pytest.approx(30 / 2**14)
    assert round(result.p, 3) == 0.002


def test_sign_test_leaves_equal_pairs_out_and_counts_them():
    result = tests.sign_test(np.array([0.0, 0.0, 1.0, -1.0, 1.0]))
    assert (result.n, result.zeros, result.wins) == (3, 2, 2)
    assert tests.sign_test(np.zeros(4)).p == 1.0


def test_sign_test_of_binary_scores_is_mcnemars_exact_test():
    """b = 10, c = 2 discordant pairs: p = 2 P(X <= 2 | 12, 1/2) = 158/4096."""
    result = tests.sign_test(np.array([1.0] * 10 + [-1.0] * 2 + [0.0] * 30))
    assert result.p == pytest.approx(158 / 4096)


def test_wilcoxon_equals_scipy_and_its_exact_extreme():
    differences = np.random.default_rng(0).normal(0.2, 1, 20)
    assert tests.wilcoxon_test(differences).p == pytest.approx(stats.wilcoxon(differences).pvalue)
    assert tests.wilcoxon_test(np.arange(1.0, 11.0)).p == pytest.approx(2 / 2**10)
    assert tests.wilcoxon_test(np.zeros(3)).p == 1.0


def test_holm_matches_a_worked_example():
    """p = .01, .04, .03, .005 over four tests: .03, .06, .06, .02 (Holm's step-down, as R's p.adjust gives)."""
    assert tests.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_never_passes_1_and_an_empty_family_is_empty():
    assert tests.holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert tests.holm([]).size == 0
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        tests.holm([1.2])


def test_effect_sizes():
    differences = np.array([1.0, 2.0, 3.0, -1.5])
    assert tests.cohens_dz(differences) == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert tests.rank_biserial(differences) == pytest.approx((1 + 3 + 4 - 2) / 10)
    assert tests.rank_biserial(np.array([1.0, 2.0])) == 1.0
    assert np.isnan(tests.cohens_dz(np.full(3, 0.5)))
    assert np.isnan(tests.rank_biserial(np.zeros(3)))
