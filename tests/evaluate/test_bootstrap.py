import numpy as np
import pytest
from scipy import stats

from ttrlab.evaluate import bootstrap


@pytest.fixture(scope="module")
def skewed() -> np.ndarray:
    return np.random.default_rng(3).exponential(size=(4, 60)) - 0.8


def drawn_as_scipy_draws(units: int, resamples: int) -> np.ndarray:
    """scipy draws one (B, n) block of indices from the generator it is given."""
    drawn = np.random.default_rng(11).integers(0, units, (resamples, units))
    return np.stack([np.bincount(row, minlength=units) for row in drawn]) / units


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_equal_scipys_on_the_same_draws(skewed, method):
    weights = drawn_as_scipy_draws(60, 2000)
    ours = bootstrap.paired(skewed, weights, method)
    for c, differences in enumerate(skewed):
        name = {"percentile": "percentile", "bca": "BCa"}[method]
        scipys = stats.bootstrap((differences,), np.mean, n_resamples=2000, method=name, rng=np.random.default_rng(11)).confidence_interval
        assert ours.low[c] == pytest.approx(scipys.low, abs=1e-9)
        assert ours.high[c] == pytest.approx(scipys.high, abs=1e-9)


def test_weights_are_draws_with_replacement_and_depend_on_seed_and_name_alone():
    weights = bootstrap.resample_weights(7, 300, seed=1, name="amc")
    counts = weights * 7
    assert np.allclose(weights.sum(axis=1), 1)
    assert np.allclose(counts, np.round(counts))
    assert np.array_equal(weights, bootstrap.resample_weights(7, 300, seed=1, name="amc"))
    assert np.array_equal(weights[:200], bootstrap.resample_weights(7, 200, seed=1, name="amc"))
    assert not np.array_equal(weights, bootstrap.resample_weights(7, 300, seed=1, name="aime"))
    assert not np.array_equal(weights, bootstrap.resample_weights(7, 300, seed=2, name="amc"))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_interval_for_questions_covers_95_percent_within_1_5(method):
    """4,000 simulated studies of 200 questions, 16 samples an arm, difficulties Beta(1.2, 1), an effect that varies by question."""
    studies, questions, samples = 4000, 200, 16
    rng = np.random.default_rng(5)
    base = rng.beta(1.2, 1.0, (studies, questions))
    better = np.clip(base + rng.normal(0.03, 0.1, base.shape), 0, 1)
    big = rng.beta(1.2, 1.0, 4_000_000)
    truth = float((np.clip(big + rng.normal(0.03, 0.1, big.size), 0, 1) - big).mean())
    differences = (rng.binomial(samples, better) - rng.binomial(samples, base)) / samples
    intervals = bootstrap.paired(differences, bootstrap.resample_weights(questions, 1000), method)
    covered = ((intervals.low <= truth) & (truth <= intervals.high)).mean()
    assert covered == pytest.approx(0.95, abs=0.015)


def seeded_studies(seeds: int, studies: int = 3000, questions: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Differences (studies, seeds, questions), true mean 0.02 over all questions, and the true mean over each study's own questions."""
    rng = np.random.default_rng(8)
    question = 0.02 + rng.normal(0, 0.15, (studies, 1, questions))
    seed = rng.normal(0, 0.03, (studies, seeds, 1))
    return question + seed + rng.normal(0, 0.08, (studies, seeds, questions)), question.mean(axis=(1, 2))


def test_interval_for_questions_like_these_covers_with_seeds_as_a_second_level():
    studies, _ = seeded_studies(seeds=10)
    weights = bootstrap.resample_weights(60, 800), bootstrap.resample_weights(10, 800, name="seeds")
    intervals = bootstrap.questions_like_these(studies, *weights)
    covered = ((intervals.low <= 0.02) & (intervals.high >= 0.02)).mean()
    assert 0.935 <= covered <= 0.98


def test_resampling_three_seeds_undercovers_and_the_t_interval_over_seeds_does_not():
    studies, truth = seeded_studies(seeds=3)
    resampled = bootstrap.these_questions(studies, bootstrap.resample_weights(3, 800, name="seeds"))
    student = bootstrap.seed_t_interval(studies)
    covered = [((i.low <= truth) & (i.high >= truth)).mean() for i in (resampled, student)]
    assert covered[0] < 0.85
    assert covered[1] == pytest.approx(0.95, abs=0.015)


def test_equal_differences_give_a_point_and_no_warning():
    same = np.full((2, 30), 0.25)
    for method in ("percentile", "bca"):
        intervals = bootstrap.paired(same, bootstrap.resample_weights(30, 200), method)
        assert intervals.low.tolist() == intervals.high.tolist() == [0.25, 0.25]


def test_two_levels_without_seed_spread_are_the_question_level():
    differences = np.random.default_rng(0).normal(size=(2, 1, 40)).repeat(3, axis=1)
    weights, seeds = bootstrap.resample_weights(40, 500), bootstrap.resample_weights(3, 500, name="seeds")
    both = bootstrap.questions_like_these(differences, weights, seeds)
    one = bootstrap.paired(differences.mean(axis=1), weights)
    assert np.allclose(both.low, one.low)
    assert np.allclose(both.high, one.high)


def test_pooled_cells_on_shared_questions_do_not_gain_from_being_counted_twice():
    differences = np.random.default_rng(2).normal(size=(1, 50))
    resampled = bootstrap.resampled_means(differences, bootstrap.resample_weights(50, 2000))[:, 0]
    alone = bootstrap.pooled([resampled], np.array([0.1]))
    twice = bootstrap.pooled([resampled, resampled], np.array([0.1, 0.1]))
    assert twice.low == alone.low
    assert twice.high == alone.high


def test_a_nan_difference_and_a_single_seed_are_refused():
    with pytest.raises(ValueError, match="finite"):
        bootstrap.paired(np.array([[0.1, np.nan]]), bootstrap.resample_weights(2, 10))
    with pytest.raises(ValueError, match="at least 2 seeds"):
        bootstrap.seed_t_interval(np.zeros((1, 1, 5)))
