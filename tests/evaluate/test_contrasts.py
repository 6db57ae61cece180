import numpy as np
import pandas as pd
import pytest

from ttrlab.evaluate import tests
from ttrlab.evaluate.contrasts import Contrast, contrast_table, contrasts_from, pooled_contrast


def contrast(model: str, benchmark: str, seeds: int = 3, questions: int = 40, effect: float = 0.1, spread: float = 0.2) -> Contrast:
    rng = np.random.default_rng(len(model) + questions + seeds)
    return Contrast(model, benchmark, "core", "majority", effect + rng.normal(0, spread, (seeds, questions)))


def test_a_row_a_contrast_in_the_given_order_whatever_the_benchmarks():
    family = [contrast("a", "amc"), contrast("b", "aime", questions=30), contrast("ccc", "amc")]
    table = contrast_table(family, resamples=500)
    assert table["model"].tolist() == ["a", "b", "ccc"]
    assert table["n"].tolist() == [40, 30, 40]
    assert ((table["low"] < table["difference"]) & (table["difference"] < table["high"])).all()
    assert ((table["bca_low"] < table["difference"]) & (table["difference"] < table["bca_high"])).all()


def test_holm_is_over_the_whole_family():
    family = [contrast("a", "amc"), contrast("b", "aime", questions=30, effect=0.02)]
    table = contrast_table(family, resamples=200)
    assert table["sign_p_holm"].tolist() == tests.holm(table["sign_p"].to_numpy()).tolist()
    assert (table["wilcoxon_p_holm"] >= table["wilcoxon_p"]).all()


def test_resampling_seeds_too_widens_the_interval_and_one_seed_has_no_seed_interval():
    rng = np.random.default_rng(0)
    runs = Contrast("a", "amc", "core", "majority", rng.normal(0, 0.2, (4, 1)) + rng.normal(0, 0.1, (4, 40)))
    wide = contrast_table([runs], resamples=500).iloc[0]
    assert wide["population_high"] - wide["population_low"] > 1.5 * (wide["high"] - wide["low"])
    assert np.isnan(contrast_table([contrast("a", "amc", seeds=1)], resamples=100)["seeds_low"].iloc[0])


def test_detectable_effect_is_2_80_standard_errors():
    row = contrast_table([contrast("a", "amc")], resamples=500).iloc[0]
    assert row["detectable"] == pytest.approx(2.8016 * row["standard_error"], rel=1e-3)


def test_pooling_over_cells_is_tighter_than_a_cell_but_not_when_they_share_all_questions():
    independent = [contrast("a", f"benchmark{i}") for i in range(9)]
    shared = [contrast("a", "amc") for _ in range(9)]
    widths = [float((p.high - p.low)[0]) for p in (pooled_contrast(cells, resamples=800) for cells in (independent, shared))]
    assert widths[0] < 0.6 * widths[1]


def test_another_number_of_questions_on_a_benchmark_is_refused_by_name():
    with pytest.raises(ValueError, match=r"b / amc / core has 30 questions, another contrast on amc has 40"):
        contrast_table([contrast("a", "amc"), contrast("b", "amc", questions=30)])


def scored(**methods: dict[int, list[float]]) -> pd.DataFrame:
    """Rows of one cell: method -> seed -> the questions' scores."""
    rows = [
        {"model": "m", "benchmark": "amc", "method": method, "seed": seed, "question_id": f"q{i}", "metric": "mean@16", "value": value}
        for method, seeds in methods.items()
        for seed, values in seeds.items()
        for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_contrasts_pair_seeds_and_questions_and_keep_the_seeds_that_both_have():
    table = scored(core={0: [1.0, 0.5], 1: [0.5, 0.5], 2: [0.0, 0.0]}, majority={1: [0.0, 0.5], 0: [0.5, 0.5]})
    (found,) = contrasts_from(table.sample(frac=1, random_state=0), "mean@16", "core", "majority")
    assert found.differences.tolist() == [[0.5, 0.0], [0.5, 0.0]]
    assert contrasts_from(table, "mean@16", "core")[0].differences.shape == (3, 2)
    assert contrasts_from(table, "pass@32", "core", "majority") == []
    assert contrasts_from(table, "mean@16", "core", "oracle") == []


def test_methods_scored_on_different_questions_are_refused():
    with pytest.raises(ValueError, match="m / amc: core and majority have mean@16 on different questions"):
        contrasts_from(scored(core={0: [1.0, 0.5]}, majority={0: [0.5]}), "mean@16", "core", "majority")
