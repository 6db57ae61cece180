from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttrlab.advantage import group_advantage
from ttrlab.evaluate import audit as audits
from ttrlab.pools import PoolRow
from ttrlab.types import RewardDecision

WRONG_MAJORITY = ["3"] * 4 + ["1"] * 3 + [None]
"""The text book case: gold is 1, four votes say 3."""


def decision(rewards: list[float], label: int | None, **fields: Any) -> RewardDecision:
    return RewardDecision(np.array(rewards, dtype=np.float64), label, **fields)


def counts(made: RewardDecision, classes: list[int], correct: list[int], train: int | None = None) -> dict[str, float]:
    return audits.visit_counts(made, np.array(classes), np.array(correct, dtype=np.int8), train or len(correct))


CLASSES, CORRECT = [0, 0, 0, 0, 1, 1, 1, -1], [0, 0, 0, 0, 1, 1, 1, 0]


def test_a_wrong_majority_gives_false_positives_and_false_negatives():
    found = counts(decision([1, 1, 1, 1, 0, 0, 0, 0], 0), CLASSES, CORRECT)
    assert [found[cell] for cell in ("tp", "fp", "tn", "fn", "undecided")] == [0, 4, 1, 3, 0]
    assert (found["label_wrong"], found["majority_wrong"], found["changed"], found["active"]) == (1, 1, 0, 1)


def test_a_recovered_minority_is_right_where_the_vote_is_wrong():
    found = counts(decision([0, 0, 0, 0, 1, 0.9, 0.8, 0], 1), CLASSES, CORRECT)
    assert [found[cell] for cell in ("tp", "fp", "tn", "fn")] == [3, 0, 5, 0]
    assert (found["label_right"], found["majority_wrong"], found["majority_fp"], found["changed"]) == (1, 1, 4, 1)


def test_only_the_trained_roll_outs_are_counted_but_all_vote():
    found = counts(decision([1, 1, 1, 1, 0, 0, 0, 0], 0), CLASSES, CORRECT, train=5)
    assert [found[cell] for cell in ("rollouts", "tp", "fp", "tn", "fn")] == [5, 0, 4, 0, 1]
    assert counts(decision([1, 1, 1, 1, 0, 0, 0, 0], 0), CLASSES, CORRECT, train=4)["active"] == 0


def test_an_abstention_is_not_accepted_has_no_label_and_no_advantage():
    found = counts(decision([0] * 8, None, abstained=True), CLASSES, CORRECT)
    assert (found["accepted"], found["active"], found["fn"], found["tn"]) == (0, 0, 3, 5)
    assert found["label_right"] + found["label_wrong"] + found["label_undecided"] == 0


def test_labels_of_their_own_count_by_their_share():
    made = decision([1, 1, 1, 1, 1, 1, 1, 0], None, labels=np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    found = counts(made, CLASSES, CORRECT)
    assert (found["label_right"], found["label_wrong"]) == (0.5, 0.5)


def test_undecided_is_in_none_of_the_four_cells_and_bounds_the_accuracy():
    found = counts(decision([1, 1, 0, 0], 0), [0, 0, 1, 2], [1, 1, -1, 0])
    rates = audits.rates(pd.DataFrame([found])).iloc[0]
    assert [found[cell] for cell in ("tp", "fp", "tn", "fn", "undecided")] == [2, 0, 1, 0, 1]
    assert (rates["reward_accuracy"], rates["reward_accuracy_low"], rates["reward_accuracy_high"]) == (1.0, 0.75, 1.0)


def test_an_undecided_label_is_neither_right_nor_wrong():
    found = counts(decision([1, 1, 0], 0), [0, 0, 1], [-1, -1, 1])
    assert (found["label_right"], found["label_wrong"], found["label_undecided"]) == (0, 0, 1)


def test_advantage_mass_is_the_positive_advantage_on_each_side_times_the_weight():
    rewards = [1.0, 1.0, 1.0, 0.0]
    found = counts(decision(rewards, 0, weight=0.5), [0, 0, 0, 1], [1, 1, 1, 0])
    assert found["advantage_correct"] == pytest.approx(0.5 * group_advantage(np.array(rewards))[:3].sum())
    assert found["advantage_wrong"] == 0


@given(st.lists(st.tuples(st.sampled_from([1, 0, -1]), st.sampled_from([0.0, 0.3, 1.0, -1.0])), min_size=1, max_size=12), st.data())
def test_the_five_counts_always_sum_to_the_trained_roll_outs(pairs, data):
    correct, rewards = zip(*pairs, strict=True)
    train = data.draw(st.integers(1, len(pairs)))
    found = counts(decision(list(rewards), 0), [0] * len(pairs), list(correct), train)
    assert sum(found[cell] for cell in ("tp", "fp", "tn", "fn", "undecided")) == train


def test_truers_counts_give_truers_rates():
    """TRUER, Table 10 and appendix C.1."""
    row = {"groups": 2880, "rollouts": 92160, "undecided": 0, "accepted": 2880 - 456, "active": 2105, "majority_active": 2557}
    row |= {"tp": 55400, "fp": 1081, "tn": 33395, "fn": 2284, "majority_tp": 56596, "majority_fp": 4012}
    row |= dict.fromkeys(("label_right", "label_wrong", "majority_right", "majority_wrong", "weight", "reward", "reachable"), 1)
    found = audits.rates(pd.DataFrame([row])).iloc[0]
    expected = {"reward_accuracy": 96.35, "fpr": 3.14, "precision": 98.09, "recall": 96.04, "coverage": 84.17}
    for name, value in expected.items():
        assert 100 * found[name] == pytest.approx(value, abs=0.006)
    for name, value in {"tp_kept": 97.9, "fp_removed": 73.1, "active_kept": 82.3}.items():
        assert 100 * found[name] == pytest.approx(value, abs=0.06)


def pool(answers: list[str | None], step: int, question: str = "q") -> PoolRow:
    n = len(answers)
    return PoolRow(question, step, 0, ("",) * n, tuple(answers), (False,) * n, (3,) * n)


def stored(step: int, question: str = "q", **changed: Any) -> dict[str, Any]:
    row = {
        "question_id": question,
        "step": step,
        "rewards": [1.0] * 4 + [0.0] * 4,
        "pseudo_label": 0,
        "labels": None,
        "answer_class": CLASSES,
    }
    return row | {"weight": 1.0, "abstained": False, "stats": {}, "per_rollout": {}} | changed


def run(steps: range) -> pd.DataFrame:
    right = {"rewards": [0.0] * 4 + [1.0] * 3 + [0.0], "pseudo_label": 1}
    rows = [stored(step, **(right if step % 2 else {})) for step in steps]
    return audits.audit((pool(WRONG_MAJORITY, step) for step in steps), map(audits.decision_from_json, rows), {"q": "1"}, train=8)


def test_stored_files_are_joined_with_gold_and_summed_over_windows():
    visits = run(range(1, 32))
    assert len(visits) == 31
    steps = audits.per_step(visits)
    assert steps["first_step"].tolist() == list(range(1, 32))
    assert steps["reward_accuracy"].tolist()[:2] == [1.0, 0.125]
    last = audits.last_updates(visits).iloc[0]
    assert (last["first_step"], last["last_step"], last["steps"], last["label_accuracy"]) == (28, 31, 4, 0.5)
    whole = audits.whole_run(visits).iloc[0]
    assert (whole["groups"], whole["rollouts"], whole["majority_label_accuracy"]) == (31, 248, 0.0)
    assert audits.by_windows(visits)[["first_step", "last_step"]].to_numpy().tolist() == [[1, 15], [16, 30], [31, 31]]


def test_a_rate_without_a_denominator_is_nan_not_zero():
    visits = audits.audit([pool([None, None], 1)], [_nothing_parsed()], {"q": "1"}, train=2)
    row = audits.whole_run(visits).iloc[0]
    assert np.isnan(row["precision"])
    assert np.isnan(row["label_accuracy"])
    assert row["reward_accuracy"] == 1.0


def _nothing_parsed() -> audits.StoredDecision:
    return audits.decision_from_json(stored(1, rewards=[0.0, 0.0], pseudo_label=None, answer_class=[-1, -1]))


def test_the_same_question_may_come_twice_in_a_step():
    rows = [audits.decision_from_json(stored(1)) for _ in range(2)]
    visits = audits.audit([pool(WRONG_MAJORITY, 1)] * 2, rows, {"q": "1"}, train=8)
    assert audits.per_step(visits)["groups"].tolist() == [2]


def test_files_that_disagree_are_refused_by_row():
    made = audits.decision_from_json(stored(2))
    with pytest.raises(ValueError, match=r"row 1: the pool has .*\('q', 1, 8\), the decisions have \('q', 2, 8\)"):
        audits.audit([pool(WRONG_MAJORITY, 1)], [made], {"q": "1"}, train=8)
    with pytest.raises(ValueError, match="shorter"):
        audits.audit([pool(WRONG_MAJORITY, 2)] * 2, [made], {"q": "1"}, train=8)
    with pytest.raises(ValueError, match=r"train must lie in 1\.\.8"):
        audits.audit([pool(WRONG_MAJORITY, 2)], [made], {"q": "1"}, train=9)
    with pytest.raises(KeyError, match="question 'q' has no gold"):
        audits.audit([pool(WRONG_MAJORITY, 2)], [made], {}, train=8)


def test_a_decision_row_without_a_key_is_refused_by_its_name():
    row = stored(1)
    del row["weight"]
    with pytest.raises(ValueError, match="lacks the key 'weight'"):
        audits.decision_from_json(row)


def test_an_empty_pool_is_refused():
    with pytest.raises(ValueError, match="nothing to audit"):
        audits.audit([], [], {}, train=1)
