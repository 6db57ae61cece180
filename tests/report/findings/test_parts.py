"""Tables and sentences of a page about finished studies."""

import pandas as pd
import pytest

from tests.report.test_highlights import DECISIONS, ROWS, grader
from ttrlab.grading import Verdict
from ttrlab.report.findings import costs, replayed, runs, scores


def test_sentences_name_who_is_above_below_and_not_told_apart():
    rows = [("core", 0.2, 0.01), ("scope", -0.1, 0.04), ("cisc", 0.3, 0.06)]
    names = ["method", "difference", "wilcoxon_p_holm"]
    contrasts = pd.DataFrame(rows, columns=names).assign(metric="mean@4", benchmark="b", baseline="base")
    assert scores.told(contrasts, "mean@4") == (
        "- b, against base: core (+20.0) above it; scope (-10.0) below it; cisc (+30.0) not told apart from it.\n"
    )


def test_rules_with_the_same_labels_share_a_row_and_rules_without_labels_have_none():
    text = replayed.label_table(ROWS, {**DECISIONS, "vote": DECISIONS["majority"]}, grader)
    assert "| core | 2 | 2 | 0 | 0 |" in text
    assert "| majority, vote | 2 | 1 | 1 | 0 |" in text
    assert "quiet" not in text


def test_reasons_are_counted_by_verdict_and_undecided_is_one():
    def explain(answer, gold):
        return (Verdict.YES, f"same key: {gold}") if answer == gold else (Verdict.UNDECIDED, "too long")

    text = replayed.reason_table(ROWS, {"even": "4", "odd": "7"}, explain)
    assert "| UNDECIDED | too long | 4 | `5` against `4` |" in text
    assert "| YES | same key | 3 | `4` against `4` |" in text


def test_an_undecided_label_is_a_column_of_its_own():
    assert "| majority | 2 | 0 | 1 | 1 |" in replayed.label_table(
        ROWS, {"majority": DECISIONS["majority"]}, lambda question, answer: -1 if question == "even" else 0
    )


def test_the_floor_is_said_where_most_questions_are_there():
    assert "on 2 of 3 groups; this model is at its floor here" in replayed.floor_text("b", ["floor", "floor", "contested"], 0.05)
    assert "on 1 of 2 groups; most of it is above the floor" in replayed.floor_text("b", ["floor", "contested"], 0.05)


def job(stage, tokens, cpu, update=0.0, peak=100.0):
    def phase(cpu, **counts):
        return {"cpu": cpu, "wall": cpu, "discarded_cpu": 0.0, "discarded_wall": 0.0, **counts}

    phases = {"sample": phase(cpu, tokens=tokens)} | ({"update": phase(update)} if update else {})
    return {"study": "s", "benchmark": "b", "stage": stage, "phases": phases, "peak_rss_mb": peak, "cores": 2, "processor": "x"}


def test_costs_are_summed_and_the_largest_process_is_kept():
    text = costs.cost_table([job("adapt", 100, 60.0, 120.0, 300.0), job("adapt", 100, 60.0, peak=200.0)])
    assert "| s | b | adapt | 2 | 4.0 | 4.0 | 300 |" in text
    assert "| all |  |  | 2 | 4.0 | 4.0 | 300 |" in text


def test_throughput_is_tokens_by_cpu_seconds_of_sampling_and_of_both():
    assert "| s | adapt | 600 | 10 | 5 |" in costs.throughput([job("adapt", 600, 60.0, 60.0)])
    assert "| s | evaluate | 600 | 10 |  |" in costs.throughput([job("evaluate", 600, 60.0)])


def test_a_judge_is_shown_by_checkpoint_with_the_frozen_one_marked():
    score = {"candidates": 10, "accuracy": 0.6, "balanced": 0.55, "wrong_accepted": 0.2, "correct_withheld": 0.7, "invalid": 0.1}
    record = {"step": 4, "calibration": [{"step": 2, **score}, {"step": 4, **score}]}
    text = runs.judge_table(record, {"warm_start_updates": 2, "updates": 2})
    assert "| 2 (warm start) | 10 | 60.0 | 55.0 | 20.0 | 70.0 | 10.0 |  |" in text
    assert "| 4 | 10 | 60.0 | 55.0 | 20.0 | 70.0 | 10.0 | yes |" in text


@pytest.mark.parametrize(
    ("withheld", "accepted", "verdict"),
    [(0.1, 0.2, "it has learnt to judge"), (0.5, 0.5, "not been seen to judge better than a coin"), (0.9, 0.9, "worse than a coin")],
)
def test_a_judge_has_learnt_when_its_interval_lies_above_a_coin(withheld, accepted, verdict):
    names = ("majority_correct", "majority_wrong", "minority_correct", "minority_wrong")
    labels = {"categories": {name: {"candidates": 25} for name in names}}
    score = {"step": 2, "balanced": 1 - (withheld + accepted) / 2, "correct_withheld": withheld, "wrong_accepted": accepted}
    text = runs.judge_text({"step": 2, "calibration": [score]}, labels)
    assert verdict in text
    assert "on 50 right and 50 wrong candidates" in text
