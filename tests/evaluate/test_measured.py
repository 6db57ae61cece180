"""Printed quantities measured on hand-made scores whose answers can be worked out on paper."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ttrlab.config.evidence import Evidence
from ttrlab.evaluate.contrasts import contrast_table, contrasts_from
from ttrlab.evaluate.measured import measure, measured
from ttrlab.evaluate.measurements import Measurements, Wanted

MODELS, BENCHMARKS = ("a", "b", "c"), ("x", "y")
GAINS = {("a", "x"): 0.2, ("a", "y"): 0.1, ("b", "x"): 0.3, ("b", "y"): 0.2, ("c", "x"): 0.1, ("c", "y"): -0.1}
EVIDENCE = Evidence(names={"ours": "core"}, models={"family": ("a", "b"), "all": MODELS}, benchmarks={"all": BENCHMARKS})


def scored() -> pd.DataFrame:
    """The vote scores 0.4 on each question, ours more by the cell's gain, the oracle 0.8; seed s adds s / 100 to ours alone."""
    rows = []
    for (model, benchmark), gain in GAINS.items():
        for seed in range(3):
            for question in range(20):
                wobble = 0.02 * (-1) ** question
                for method, value in {"majority": 0.4, "ours": 0.4 + gain + wobble + seed / 100, "oracle": 0.8}.items():
                    rows.append([f"q{question}", "mean@4", value, model, benchmark, method, seed])
    return pd.DataFrame(rows, columns=["question_id", "metric", "value", "model", "benchmark", "method", "seed"])


@pytest.fixture(scope="module")
def found() -> Measurements:
    audit = pd.DataFrame(
        [
            ["a", "x", "ours", seed, window, first, 50, accuracy]
            for seed in range(3)
            for window, first, accuracy in (("whole run", 1, 0.9 + seed / 100), ("15 updates", 1, 0.5), ("15 updates", 16, 0.7))
        ],
        columns=["model", "benchmark", "method", "seed", "window", "first_step", "groups", "reward_accuracy"],
    )
    efficiency = pd.DataFrame(
        [["a", "x", "ours", "majority", 0.6, 0.2, 0.8, 20, 3], ["a", "y", "ours", "majority", -np.inf, -np.inf, 0.1, 20, 3]],
        columns=["model", "benchmark", "method", "baseline", "fewer", "low", "high", "n", "seeds"],
    )
    offline = pd.DataFrame(
        [["a", "x", gap] for gap in (0.2, 0.4, np.nan)] + [["a", "y", gap] for gap in (0.5, 0.7)],
        columns=["model", "benchmark", "confidence_gap"],
    )
    return Measurements(scored(), audit, efficiency, offline, {("a", "x"): 90}, "mean@4", EVIDENCE, resamples=500)


def wanted(method="core - majority", metric="mean@4", model="a", benchmark="x", window="", unit="pp") -> Wanted:
    return Wanted(model, benchmark, method, metric, window, unit)


def test_one_cell_has_the_difference_and_the_interval_of_the_contrast_table(found):
    row = contrast_table(contrasts_from(found.questions, "mean@4", "ours", "majority")[:1], resamples=500).iloc[0]
    one = measure(wanted(), found)
    assert one.value == pytest.approx(21.0)
    assert (one.low, one.high) == (100 * row["population_low"], 100 * row["population_high"])
    assert (one.n, one.seeds, one.cells) == (20, 3, 1)


def test_a_group_is_the_mean_over_its_cells_and_none_where_a_cell_is_missing(found):
    family = measure(wanted(model="family", benchmark="all"), found)
    assert family.value == pytest.approx(100 * (0.2 + 0.1 + 0.3 + 0.2) / 4 + 1)
    assert (family.n, family.cells) == (80, 4)
    beyond = replace(found, evidence=EVIDENCE.model_copy(update={"models": {"family": ("a", "d")}}))
    assert measure(wanted(model="family", benchmark="all"), beyond) is None


def test_relative_gains_and_the_closed_gap_are_ratios_of_means(found):
    assert measure(wanted(metric="mean@4 relative", unit="%"), found).value == pytest.approx(100 * 0.21 / 0.4)
    closed = measure(wanted(method="core", metric="gap closed, mean@4", unit="%"), found)
    assert closed.value == pytest.approx(100 * 0.21 / 0.4)
    assert closed.low < closed.value < closed.high


def test_the_largest_cell_and_the_spread_over_seeds(found):
    largest = measure(wanted(model="all", benchmark="all", metric="mean@4 largest cell"), found)
    assert largest.value == pytest.approx(31.0)
    spread = measure(wanted(method="core", model="all", benchmark="all", metric="mean@4 sd over seeds, most"), found)
    assert spread.value == pytest.approx(1.0)
    assert np.isnan(spread.low)


def test_settings_won_and_their_tests_are_over_cells(found):
    won = measure(wanted(model="all", benchmark="all", metric="settings won", unit="count"), found)
    assert (won.value, won.wins, won.n, won.cells) == (5, 5, 6, 6)
    assert won.low < 3 < won.high == pytest.approx(6, abs=0.1)
    sign = measure(wanted(model="all", benchmark="all", metric="sign test p", unit="p"), found)
    assert sign.value == pytest.approx(2 * (1 + 6) / 2**6)


def test_a_number_at_another_step_than_the_endpoint_is_not_ours(found):
    assert measure(wanted(window="step 15"), found) is None
    assert measure(wanted(window="step 90"), found).value == pytest.approx(21.0)
    assert measure(wanted(window="fixed pool"), found) is None


def test_audited_numbers_are_means_over_seeds_at_the_window_that_the_paper_names(found):
    whole = measure(wanted("core", "reward accuracy", window="whole run", unit="%"), found)
    assert (whole.value, whole.seeds) == (pytest.approx(91.0), 3)
    assert whole.low < 91 < whole.high
    assert measure(wanted("core", "reward accuracy", window="first 15 updates", unit="%"), found).value == pytest.approx(50)
    assert measure(wanted("core", "reward accuracy", window="last 15 updates", unit="%"), found).value == pytest.approx(70)
    assert measure(wanted("core", "reward accuracy", window="last 4", unit="%"), found) is None


def test_fewer_steps_of_a_cell_and_over_cells(found):
    metric = "fewer steps to the plateau of majority"
    assert measure(wanted("core", metric, unit="%"), found).value == pytest.approx(60)
    of_a = replace(found, evidence=EVIDENCE.model_copy(update={"models": {"all": ("a",)}}))
    ends = [measure(wanted("core", f"{metric}, {end}", "all", "all", unit="%"), of_a).value for end in ("least", "most")]
    assert ends == [-np.inf, pytest.approx(60)]
    assert measure(wanted("core", f"{metric}, least", "all", "all", unit="%"), found) is None


def test_the_confidence_gap_and_its_factor_are_means_over_cells(found):
    gap = measure(wanted("core", "confidence gap", model="a", benchmark="all", unit="nats"), found)
    assert (gap.value, gap.n, gap.cells) == (pytest.approx(0.45), 4, 2)
    factor = measure(wanted("core", "threshold factor at the measured gap", model="a", benchmark="all", unit="ratio"), found)
    assert factor.value == pytest.approx(np.exp(-0.45 / 0.25))
    assert factor.low < factor.value < factor.high
    assert measure(wanted("core", "confidence gap", model="b", benchmark="all", unit="nats"), found) is None


def test_what_nobody_measured_has_no_row(found):
    asked = pd.DataFrame([wanted(), wanted(), wanted("core - cisc"), wanted(metric="pass@9"), wanted(model="z")])
    assert measured(asked, found)["method"].tolist() == ["core - majority"]
