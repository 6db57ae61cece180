import numpy as np
import pytest

from ttrlab.evaluate import variance


def simulated(seeds: int, questions: int, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Standard deviations: question .3, seed .05, interaction .1, decoding .4."""
    question, seed = rng.normal(0, 0.3, (1, questions, 1)), rng.normal(0, 0.05, (seeds, 1, 1))
    interaction = rng.normal(0, 0.1, (seeds, questions, 1))
    return 0.5 + question + seed + interaction + rng.normal(0, 0.4, (seeds, questions, samples))


def test_components_are_recovered_from_simulated_runs():
    rng = np.random.default_rng(0)
    found = [variance.split(simulated(6, 80, 8, rng)) for _ in range(300)]
    mean = {name: np.mean([getattr(c, name) for c in found]) for name in ("question", "seed", "interaction", "decoding")}
    assert mean["question"] == pytest.approx(0.09, rel=0.03)
    assert mean["seed"] == pytest.approx(0.0025, rel=0.15)
    assert mean["interaction"] == pytest.approx(0.01, rel=0.05)
    assert mean["decoding"] == pytest.approx(0.16 / 8, rel=0.03)


def test_standard_error_is_the_spread_of_the_mean_over_repeated_studies():
    rng = np.random.default_rng(1)
    studies = [simulated(3, 40, 4, rng) for _ in range(1500)]
    predicted = np.sqrt(np.mean([variance.split(s).standard_error() ** 2 for s in studies]))
    assert predicted == pytest.approx(np.std([s.mean() for s in studies]), rel=0.06)


def test_pairing_removes_the_questions_that_both_arms_share():
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 0.3, (1, 60, 1))
    arms = [0.5 + shared + rng.normal(0, 0.4, (3, 60, 8)) for _ in range(2)]
    paired = variance.split_difference(*arms)
    assert abs(paired.question) < 0.01 < variance.split(arms[0]).question
    assert paired.decoding == pytest.approx(2 * 0.16 / 8, rel=0.1)


def test_shares_sum_to_one_and_a_negative_estimate_counts_as_none():
    shares = variance.Components(0.09, -0.001, 0.01, 0.02, 30, 3).shares()
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["seed"] == 0


def test_more_questions_and_samples_shrink_the_error_as_planned():
    parts = variance.Components(0.09, 0.0, 0.0, 0.02, 30, 1)
    assert parts.standard_error(questions=120) == pytest.approx(parts.standard_error() / 2)
    assert parts.standard_error(decoding_factor=0.5) == pytest.approx(np.sqrt(0.1 / 30))


def test_one_seed_says_nothing_about_seeds():
    parts = variance.split(np.random.default_rng(3).normal(size=(1, 20, 4)))
    assert np.isnan(parts.seed)
    assert np.isnan(parts.interaction)
    assert set(parts.shares()) == {"question", "decoding"}


def test_one_sample_a_cell_is_refused():
    with pytest.raises(ValueError, match="at least 2 samples"):
        variance.split(np.zeros((2, 3, 1)))
