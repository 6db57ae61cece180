"""Predictions and their verdicts, on tables whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from ttrlab.evaluate.regimes import Rivals
from ttrlab.report.findings import predictions


def scores(values, metric="mean@4", seeds=(0, 1)):
    """Method -> its score on every one of 20 questions, with a little noise that all methods share."""
    noise = np.random.default_rng(0).normal(0, 0.01, 20)
    rows = [
        {
            "model": "m",
            "benchmark": "b",
            "method": method,
            "seed": seed,
            "question_id": f"q{q}",
            "metric": metric,
            "value": value + noise[q],
        }
        for method, value in values.items()
        for seed in seeds
        for q in range(20)
    ]
    return pd.DataFrame(rows)


def test_a_method_above_its_baseline_holds_one_below_contradicts_and_an_absent_one_is_not_tested():
    questions = scores({"base": 0.5, "majority": 0.7, "core": 0.6})
    found = {one.prediction: one for one in predictions.endpoint_predictions(questions, "mean@4")}
    assert {one.verdict for one in found.values()} == {"held", "contradicted"}
    assert found["CoRE ends above the vote"].verdict == "contradicted"
    assert found["CoRE ends above the vote"].value == pytest.approx(-0.1)
    assert (found["CoRE ends above the vote"].n, found["CoRE ends above the vote"].seeds) == (20, 2)
    assert len(found) == 2


def test_an_interval_that_contains_0_is_open():
    assert predictions.Found("p", "x", "b", 0.1, -0.1, 0.3, 10, 1).verdict == "open"
    assert predictions.Found("p", "x", "b", 0.0, 0.0, 0.0, 10, 1).verdict == "open"


def test_the_trained_policy_is_compared_with_the_vote_that_it_started_from():
    questions = pd.concat([scores({"majority": 0.6, "base": 0.9}), scores({"base": 0.7, "majority": 0.1}, "majority@4")])
    (found,) = predictions.beyond_the_vote(questions, "mean@4", "majority@4")
    assert found.value == pytest.approx(-0.1)
    assert found.verdict == "contradicted"


def test_lucky_hits_are_rewards_that_are_right_more_often_than_labels():
    audit = pd.DataFrame({"method": "majority", "benchmark": "b", "seed": 0, "reward_accuracy": [0.9, 0.8, 0.7], "label_accuracy": 0.5})
    (found,) = predictions.lucky_hits(audit)
    assert found.value == pytest.approx(0.3)
    assert (found.verdict, found.n) == ("held", 3)


def offline(recovered, weight_correct):
    """Twelve questions with 4 right against 8 wrong roll-outs; the threshold is met where the right ones' weight is high."""
    rows = [
        {"question_id": f"q{q}", "run": 0, "confidence_gap": 0.2, "recovered": outcome}
        | {name: getattr(Rivals(4, 8, 0.9, 0.6, weight, 0.2, 0.2), name) for name in Rivals.__dataclass_fields__}
        for q, (outcome, weight) in enumerate(zip(recovered, weight_correct, strict=True))
    ]
    return {"b": pd.DataFrame(rows)}


def test_proposition_3_holds_only_where_it_beats_saying_the_same_of_all_questions():
    varied = predictions.offline_predictions(offline([True] * 6 + [False] * 6, [0.9] * 6 + [0.2] * 6))[-1]
    assert (varied.value, varied.verdict) == (pytest.approx(0.5), "held")
    never = predictions.offline_predictions(offline([False] * 12, [0.2] * 12))[-1]
    assert (never.value, never.verdict) == (0.0, "open")
    assert "it says 0, 0 of 12 did" in never.prediction


def test_premises_of_core_are_read_from_the_questions():
    gap, coherence = predictions.offline_predictions(offline([True] * 12, [0.9] * 12))[:2]
    assert (gap.value, gap.unit) == (pytest.approx(0.2), "nats")
    assert coherence.value == pytest.approx(0.3)


def test_the_table_counts_verdicts_and_names_the_study():
    text = predictions.prediction_table({"s": [predictions.Found("p", "x", "b", 0.1, 0.05, 0.3, 10, 1)]})
    assert "1 held, 0 contradicted, 0 open" in text
    assert "| s | p | x | b | +10.0 [+5.0, +30.0] points | 10 | 1 | held |" in text
