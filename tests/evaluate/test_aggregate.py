import numpy as np
import pytest
from scipy import stats

from ttrlab.evaluate import aggregate


def test_iqm_is_the_mean_of_the_middle_half_of_all_runs():
    assert aggregate.interquartile_mean(np.arange(8.0).reshape(2, 4)) == pytest.approx((2 + 3 + 4 + 5) / 4)


def test_probability_of_improvement_is_the_mann_whitney_statistic_averaged_over_tasks():
    """rliable: U / (runs_x runs_y) for each task, then the mean over tasks."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(0.3, 1, (5, 6)).round(1), rng.normal(0, 1, (4, 6)).round(1)
    expected = np.mean([stats.mannwhitneyu(x[:, t], y[:, t]).statistic / 20 for t in range(6)])
    assert aggregate.probability_of_improvement(x, y) == pytest.approx(expected)


def test_equal_arms_improve_with_probability_one_half():
    assert aggregate.probability_of_improvement(np.ones((3, 2)), np.ones((3, 2))) == 0.5


def test_intervals_hold_the_estimate_and_repeat():
    rng = np.random.default_rng(2)
    x, y = rng.normal(1, 1, (5, 10)), rng.normal(0, 1, (5, 10))
    for interval in (aggregate.iqm_interval(x, 500), aggregate.improvement_interval(x, y, 500)):
        assert interval.low[0] < interval.estimate[0] < interval.high[0]
    first, again = aggregate.iqm_interval(x, 500), aggregate.iqm_interval(x, 500)
    assert (first.low[0], first.high[0]) == (again.low[0], again.high[0])


def test_arms_on_different_tasks_are_refused():
    with pytest.raises(ValueError, match="same tasks"):
        aggregate.probability_of_improvement(np.ones((2, 3)), np.ones((2, 4)))
