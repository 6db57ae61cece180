import numpy as np
import pytest
from scipy import stats

from ttrlab.evaluate import power


def test_detectable_effect_is_2_80_standard_errors_at_80_percent():
    assert power.detectable(1.0) == pytest.approx(stats.norm.isf(0.025) + stats.norm.ppf(0.8), abs=1e-4)


def test_an_aime_cell_resolves_about_8_points():
    """30 questions; per-question differences spread by 16 points."""
    assert power.detectable(power.planned_error(30, 3, 0.16)) == pytest.approx(0.08, abs=0.003)


def test_t_power_matches_a_published_table():
    """Paired t test, n = 34, d_z = 0.5, two-sided .05: power .8078 (G*Power)."""
    assert power.power(0.5, 1 / np.sqrt(34), freedom=33) == pytest.approx(0.8078, abs=5e-4)


def test_three_seeds_need_a_much_larger_effect_than_the_normal_rule_says():
    assert power.detectable(1.0, freedom=2) > 2 * power.detectable(1.0)


def test_power_at_no_effect_is_alpha_and_is_simulated_correctly():
    assert power.power(0.0, 1.0) == pytest.approx(0.05)
    draws = np.random.default_rng(0).normal(2.0, 1.0, 200_000)
    assert power.power(2.0, 1.0) == pytest.approx((np.abs(draws) > stats.norm.isf(0.025)).mean(), abs=0.005)


def test_pooling_independent_cells_divides_by_the_root_and_shared_questions_do_not():
    assert power.pooled_error([0.03] * 9) == pytest.approx(0.01)
    assert power.pooled_error([0.03] * 9, correlation=1.0) == pytest.approx(0.03)


def test_a_published_interval_gives_back_its_spread():
    """TRUER, Table 12: Pass@1 +0.42 [-0.37, +1.28] over 370 questions: about 8 points a question."""
    assert power.sd_from_interval(-0.37, 1.28, 370) == pytest.approx(8.1, abs=0.1)


def test_questions_needed_is_the_inverse_of_detectable():
    n = power.questions_needed(0.013, 0.16)
    assert power.detectable(0.16 / np.sqrt(n)) <= 0.013 < power.detectable(0.16 / np.sqrt(n - 1))


def test_nonsense_is_refused():
    for call in (lambda: power.power(1, 0), lambda: power.detectable(1, wanted=0.01), lambda: power.planned_error(0, 1, 0.1)):
        with pytest.raises(ValueError):
            call()
