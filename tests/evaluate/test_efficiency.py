import numpy as np
import pytest

from ttrlab.evaluate import bootstrap, efficiency

STEPS = np.array([0.0, 10, 20, 30, 40])


def compare(method: np.ndarray, baseline: np.ndarray, steps: np.ndarray = STEPS, tail: int = 1) -> efficiency.FewerSteps:
    seeds, questions, _ = baseline.shape
    weights = bootstrap.resample_weights(questions, 400), bootstrap.resample_weights(seeds, 400, name="seeds")
    return efficiency.fewer_steps(steps, method, baseline, *weights, tail=tail)


def arm(curve: list[float], noise: float = 0.0) -> np.ndarray:
    """3 seeds x 40 questions with the given mean curve."""
    return np.array(curve) + np.random.default_rng(0).normal(0, noise, (3, 40, len(curve)))


def test_steps_are_read_linearly_between_checkpoints():
    curves = np.array([[0.2, 0.4, 0.6, 0.6, 0.7], [0.2, 0.3, 0.3, 0.3, 0.3], [0.9, 0.1, 0.1, 0.1, 0.1]])
    assert efficiency.steps_to(STEPS, curves, np.array([0.5, 0.5, 0.5])).tolist() == [15.0, np.inf, 0.0]


def test_a_method_that_is_there_after_46_percent_of_the_steps_needs_54_percent_fewer():
    steps = np.array([0.0, 18.4, 40.0])
    result = compare(arm([0.2, 0.6, 0.6]), arm([0.2, 0.4, 0.6]), steps)
    assert (result.low, result.fewer, result.high) == pytest.approx((0.54, 0.54, 0.54))
    assert (result.method_steps, result.baseline_steps, result.reached, result.defined) == (pytest.approx(18.4), 40.0, 1.0, 1.0)


def test_the_interval_widens_with_noise_and_holds_the_estimate():
    result = compare(arm([0.2, 0.5, 0.6, 0.65, 0.66], 0.15), arm([0.2, 0.3, 0.4, 0.5, 0.6], 0.15))
    assert result.low < result.fewer < result.high
    assert result.high - result.low > 0.05


def test_a_method_that_never_arrives_is_minus_infinity_not_a_number_of_steps():
    result = compare(arm([0.2, 0.25, 0.3, 0.3, 0.3]), arm([0.2, 0.3, 0.4, 0.5, 0.6]))
    assert result.fewer == -np.inf
    assert result.method_steps == np.inf
    assert result.reached == 0.0


def test_a_baseline_that_gains_nothing_leaves_the_ratio_undefined():
    result = compare(arm([0.5, 0.6, 0.6, 0.6, 0.6]), arm([0.5, 0.4, 0.4, 0.4, 0.5]))
    assert np.isnan(result.fewer)
    assert result.defined == 0.0
    assert np.isnan(result.low)


def test_the_plateau_is_the_mean_of_the_last_checkpoints_asked_for():
    assert compare(arm([0.2, 0.5, 0.7, 0.7, 0.7]), arm([0.2, 0.3, 0.4, 0.5, 0.6]), tail=2).plateau == pytest.approx(0.55)


def test_steps_that_do_not_increase_and_a_tail_of_everything_are_refused():
    with pytest.raises(ValueError, match="increase"):
        efficiency.steps_to(np.array([0.0, 0.0]), np.zeros((1, 2)), np.zeros(1))
    with pytest.raises(ValueError, match="tail=5"):
        compare(arm([0.1] * 5), arm([0.1] * 5), tail=5)
