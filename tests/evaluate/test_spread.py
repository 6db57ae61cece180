"""A study over its cells, and the sources of its variance, against arithmetic and simulation."""

import numpy as np
import pandas as pd
import pytest

from ttrlab.evaluate.power import detectable
from ttrlab.evaluate.spread import decoding_noise, overall_table, runs_of, samples_of, variance_table
from ttrlab.evaluate.variance import split, split_difference

SAMPLES, METRIC = 16, "mean@16"


def table_of(samples, methods, metric=METRIC):
    """questions.csv of 0/1 ``samples`` (method, cell, seed, question, sample)."""
    rows = [
        ["m", f"b{cell}", method, seed, f"q{q}", metric, share]
        for method, cells in zip(methods, samples.mean(axis=-1), strict=True)
        for cell, seeds in enumerate(cells)
        for seed, shares in enumerate(seeds)
        for q, share in enumerate(shares)
    ]
    return pd.DataFrame(rows, columns=["model", "benchmark", "method", "seed", "question_id", "metric", "value"])


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    skill = rng.beta(1, 1, (1, 2, 1, 30, 1)) * np.array([0.5, 0.8]).reshape(2, 1, 1, 1, 1)
    return (rng.random((2, 2, 3, 30, SAMPLES)) < skill).astype(float)


def test_components_from_stored_shares_are_those_from_the_single_rollouts(samples):
    found = variance_table(table_of(samples, ["base", "core"]), METRIC, [("core", ""), ("core", "base")])
    own, difference = found[found.baseline == ""], found[found.baseline == "base"]
    for cell in range(2):
        for row, parts in (
            (own.iloc[cell], split(samples[1, cell])),
            (difference.iloc[cell], split_difference(samples[1, cell], samples[0, cell])),
        ):
            assert row[["question", "seed", "interaction", "decoding"]].to_dict() == pytest.approx(parts.shares())
            assert row.standard_error == pytest.approx(parts.standard_error())
            assert row.detectable == pytest.approx(detectable(parts.standard_error()))
    assert (found.n.unique(), found.seeds.unique(), found.samples.unique()) == (30, 3, SAMPLES)


def test_decoding_noise_is_unbiased_for_shares():
    shares = np.random.default_rng(1).binomial(SAMPLES, 0.3, 200_000) / SAMPLES
    assert decoding_noise(shares, SAMPLES).mean() == pytest.approx(0.3 * 0.7 / SAMPLES, rel=0.01)


def test_one_seed_leaves_seed_and_interaction_empty(samples):
    row = variance_table(table_of(samples[:, :1, :1], ["base", "core"]), METRIC, [("core", "base")]).iloc[0]
    assert np.isnan(row.seed)
    assert np.isnan(row.interaction)
    assert row.question + row.decoding == pytest.approx(1)


@pytest.mark.parametrize(("metric", "count"), [("mean@16", 16), ("mean@1", 0), ("pass@32", 0), ("greedy", 0)])
def test_only_means_over_several_rollouts_tell_their_decoding_noise(metric, count):
    assert samples_of(metric) == count


def test_a_metric_without_decoding_noise_is_refused_by_name(samples):
    with pytest.raises(ValueError, match="'greedy' is no mean@k"):
        variance_table(table_of(samples, ["base", "core"], "greedy"), "greedy", [("core", "base")])


def test_the_iqm_leaves_a_quarter_at_each_end_out_and_a_better_method_improves_for_certain():
    scores = np.array([[[0.0], [0.1], [0.2], [0.9]], [[0.5], [0.6], [0.7], [1.0]]])  # method, cell, seed
    found = overall_table(table_of(scores[..., None, None].repeat(2, axis=-2), ["base", "core"]), METRIC, ["base", "core"], ["base"])
    base, core, over = found.to_dict("records")
    assert (base["measure"], base["value"], core["value"]) == ("IQM", pytest.approx(0.15), pytest.approx(0.65))
    assert (over["measure"], over["method"], over["baseline"], over["value"]) == ("P(improvement)", "core", "base", 1.0)
    assert (over["cells"], over["seeds"]) == (4, 1)


def test_only_cells_and_seeds_that_every_method_has_are_compared(samples):
    table = table_of(samples, ["base", "core"])
    kept = table[~((table.method == "core") & ((table.benchmark == "b1") | (table.seed == 2)))]
    assert {method: runs.shape for method, runs in runs_of(kept, METRIC, ["base", "core"]).items()} == {"base": (2, 1), "core": (2, 1)}
    assert runs_of(table, METRIC, ["base", "scope"]) == {}
    assert len(overall_table(table, METRIC, ["base", "scope"], ["base"])) == 0
