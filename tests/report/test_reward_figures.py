"""The figures of the training rewards show the numbers of their tables, and are left out where there are none."""

import pandas as pd
import pytest

from ttrlab.evaluate.audit import over_seeds, rates
from ttrlab.report.reward_figures import decision_flow, reward_errors
from ttrlab.rewards.truer import ENDS
from ttrlab.stages.aggregate import shown_audit

COUNTS = (
    "groups rollouts tp fp tn fn undecided active accepted weight reward advantage_correct advantage_wrong label_right label_wrong"
    " label_undecided majority_right majority_wrong majority_undecided majority_tp majority_fp majority_active changed reachable"
).split()


def audit_row(method, seed, window, first, last, **counts):
    row = {"first_step": first, "last_step": last, "steps": last - first + 1, **dict.fromkeys(COUNTS, 0), **counts}
    return {
        **rates(pd.DataFrame([row])).iloc[0].to_dict(),
        "window": window,
        "model": "m",
        "benchmark": "b",
        "method": method,
        "seed": seed,
    }


def test_rewards_errors_are_per_cent_of_the_decided_rollouts():
    rows = [
        audit_row("majority", seed, "step", step, step, groups=2, tp=5, fp=3, tn=1, fn=1, undecided=6) for seed in (0, 1) for step in (1, 2)
    ]
    figure = reward_errors(pd.DataFrame(rows), ["base", "majority"])
    lines = [line for axes in figure.axes for line in axes.lines if len(line.get_ydata())]
    assert [sorted(set(line.get_ydata())) for line in lines] == [[30.0], [10.0]]
    assert "n = 2 questions a step; mean of 2 runs" in figure._suptitle.get_text()


def test_the_ends_of_the_cascade_are_stacked_to_a_whole():
    half = {"accepted_rank1": 0.75, "tie_rank1": 0.25}
    steps = [
        {"step": step, "model": "m", "benchmark": "b", "method": "truer", "seed": 0, "questions": 8,
         **{f"rule/{end}": half.get(end, 0.0) for end in ENDS}}
        for step in (1, 2)
    ]  # fmt: skip
    figure = decision_flow(pd.DataFrame(steps))
    (axes,) = figure.axes
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in axes.containers}
    assert heights == {"accepted_rank1": [75.0, 75.0], "tie_rank1": [25.0, 25.0]}
    assert {bars.get_label(): bars[0].get_hatch() for bars in axes.containers} == {"accepted_rank1": "", "tie_rank1": "////"}


@pytest.mark.parametrize("steps", [pd.DataFrame(), pd.DataFrame({"step": [1], "method": ["majority"]})])
def test_without_a_judge_there_is_no_flow_and_without_an_audit_no_errors(steps):
    assert decision_flow(steps) is None
    assert reward_errors(pd.DataFrame(), ["majority"]) is None


def test_the_audit_is_summed_over_seeds_window_by_window():
    rows = [
        audit_row("truer", seed, "15 updates", first, first + 14, groups=10, rollouts=20, tp=6 + seed, fp=2, tn=2 - seed)
        for seed in (0, 1)
        for first in (1, 16)
    ]
    rows += [audit_row("truer", seed, "whole run", 1, 30 + seed, groups=20, rollouts=40, tp=12, fp=4, tn=4) for seed in (0, 1)]
    rows += [audit_row("truer", 0, "step", 1, 1, groups=1, tp=1)]
    found = over_seeds(pd.DataFrame(rows))
    assert found[["window", "first_step", "last_step", "seeds", "groups", "tp"]].to_numpy().tolist() == [
        ["15 updates", 1, 15, 2, 20, 13],
        ["15 updates", 16, 30, 2, 20, 13],
        ["whole run", 1, 31, 2, 40, 24],
    ]
    assert found["reward_accuracy"].tolist() == pytest.approx([16 / 20, 16 / 20, 32 / 40])
    shown = shown_audit(found)
    assert shown["precision"].tolist() == ["76.5", "76.5", "75.0"]
    assert shown["recall"].tolist() == ["100.0"] * 3
    assert shown["FP removed"].tolist() == [""] * 3
