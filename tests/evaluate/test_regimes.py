import numpy as np
import pandas as pd
import pytest

from ttrlab.config.evidence import RegimeRule
from ttrlab.evaluate import regimes

RULE = RegimeRule()


def verdicts(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int8)


@pytest.mark.parametrize(
    "correct, classes, expected",
    [
        ([1] * 19 + [0], [0] * 19 + [1], "saturated"),
        ([0] * 12 + [1] * 8, [0] * 12 + [1] * 8, "contested"),
        ([0] * 19 + [1], [0] * 19 + [1], "floor"),
        ([0] * 20, [0] * 20, "floor"),
        ([-1] * 20, [0] * 20, "floor"),
        ([0] * 20, [-1] * 20, "floor"),
    ],
)
def test_regime_of_a_question(correct, classes, expected):
    assert regimes.regime(verdicts(*correct), np.array(classes), RULE) == expected


def test_confidence_gap_is_in_nats_and_leaves_undecided_out():
    gap = regimes.confidence_gap(verdicts(1, 1, 0, -1), np.array([-0.1, -0.3, -0.5, -9.0]))
    assert gap == pytest.approx(0.3)
    assert np.isnan(regimes.confidence_gap(verdicts(0, 0), np.zeros(2)))


def test_rivals_are_the_largest_right_and_the_largest_wrong_class():
    classes = np.array([0, 0, 0, 1, 1, 2])
    correct = verdicts(0, 0, 0, 1, 1, 0)
    affinity = np.where(classes[:, None] == classes, 0.5, 0.0)
    np.fill_diagonal(affinity, 0.0)
    affinity[3, 4] = affinity[4, 3] = 0.9
    found = regimes.rivals(correct, classes, affinity, np.array([-0.5, -0.5, -0.5, -0.2, -0.2, -0.1]), temperature=0.25)
    assert (found.n, found.m) == (2, 3)
    assert (found.coherence_correct, found.coherence_wrong) == (pytest.approx(0.9), pytest.approx(0.5))
    assert found.gap == pytest.approx(0.3)
    assert found.weight_correct / found.weight_wrong == pytest.approx(np.exp(0.3 / 0.25))
    assert regimes.rivals(verdicts(0, 0), np.array([0, 1]), np.zeros((2, 2)), np.zeros(2)) is None


def eight_against_24(coherence: float, gap: float) -> regimes.Rivals:
    return regimes.Rivals(8, 24, coherence, 0.3, 1.0, float(np.exp(-gap / 0.25)), gap)


def test_thresholds_of_8_against_24_are_the_papers():
    """Proposition 2 asks for 23/7 = 3.3 times the coherence; a gap of 0.309 nats at tau 0.25 lowers that to 0.955, below c_w."""
    row = regimes.recovery([eight_against_24(0.3, 0.309)], [True]).iloc[0]
    assert row["barycentre"] == pytest.approx(23 / 7)
    assert row["calibrated"] == pytest.approx(0.955, abs=0.001)
    assert row["static"] == pytest.approx((1 - 1 / 24) / (1 - 1 / 8))
    assert (row["predicted_graph"], row["predicted_calibrated"], row["predicted_static"]) == (False, True, False)
    assert regimes.operative_line(np.array([1.0]), 0.309)[0] == pytest.approx(0.29, abs=0.001)


def test_agreement_counts_the_four_cases():
    found = [eight_against_24(0.3, 0.309), eight_against_24(0.3, 0.309), eight_against_24(0.3, 0.0), eight_against_24(0.3, 0.0)]
    result = regimes.agreement(regimes.recovery(found, [True, False, True, False]))
    assert result == {"predicted_and_recovered": 1, "predicted_only": 1, "recovered_only": 1, "neither": 1, "n": 4, "agreement": 0.5}


def test_only_minorities_are_in_the_region_and_a_lone_right_answer_is_never_predicted():
    ahead = regimes.Rivals(5, 3, 0.5, 0.5, 1.0, 1.0, 0.0)
    lone = regimes.Rivals(1, 3, float("nan"), 0.5, 1.0, 0.001, 2.0)
    region = regimes.recovery([ahead, lone], [True, True])
    assert len(region) == 1
    assert not region["predicted_calibrated"].any()


def test_no_minority_questions_give_an_empty_region_and_no_agreement():
    region = regimes.recovery([], [])
    assert isinstance(region, pd.DataFrame)
    assert region.empty
    assert np.isnan(regimes.agreement(region)["agreement"])
