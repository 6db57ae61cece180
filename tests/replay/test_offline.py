"""What the base model's roll-outs say before training, on rows whose right answers are known."""

import numpy as np
import pandas as pd
import pytest

from ttrlab.config.evidence import RegimeRule
from ttrlab.pools import PoolRow
from ttrlab.replay.offline import block, question_rows, sizes, vote_rows
from ttrlab.rewards.core import Core
from ttrlab.rewards.intuitor import Intuitor
from ttrlab.rewards.majority import Majority
from ttrlab.rewards.oracle import Oracle
from ttrlab.rewards.scope import Scope

GOLD = {"q0": "1", "q1": "1"}


def row(question: str, answers: list[str | None], confident: str | None = None) -> PoolRow:
    n = len(answers)
    logprob = np.array([-0.1 if answer == confident else -1.5 for answer in answers])
    texts = tuple(f"think about {answer} and then say {answer}" for answer in answers)
    signals = {"mean_logprob": logprob, "step_confidence": -logprob, "self_certainty": logprob}
    return PoolRow(question, 0, 7, texts, tuple(answers), (False,) * n, (9,) * n, signals)


def test_a_minority_that_is_sure_is_recovered_and_a_vote_is_not():
    rows = [row("q0", ["2"] * 5 + ["1"] * 3, confident="1"), row("q1", ["1"] * 7 + ["2"])]
    table = question_rows(rows, GOLD, Core(), RegimeRule()).set_index("question_id")
    assert table.recovered.tolist() == [True, True]
    assert table.majority.tolist() == [False, True]
    assert table.regime.tolist() == ["contested", "contested"]
    assert (table.loc["q0", "n"], table.loc["q0", "m"]) == (3, 5)
    assert table.loc["q0", "confidence_gap"] == pytest.approx(1.4)


def test_a_question_with_nothing_wrong_has_no_rivals():
    table = question_rows([row("q0", ["1"] * 8), row("q1", ["2"] * 8)], GOLD, Core(), RegimeRule())
    assert table.regime.tolist() == ["saturated", "floor"]
    assert "n" not in table or table["n"].isna().all()


def test_every_rollout_is_used_once_at_each_number_of_votes():
    rows = [row("q0", ["1", "2", "2", "2", "1", "1", "1", "2"]), row("q1", ["1"] * 8)]
    table = vote_rows(rows, GOLD, {"majority": Majority()}, batch=2).set_index(["votes", "question_id"]).right
    assert sizes(8) == [2, 4, 8]
    assert table[2, "q0"] == pytest.approx(3 / 4)
    assert table[4, "q0"] == pytest.approx(1 / 2)
    assert table[8, "q0"] == 1.0
    assert table.xs("q1", level=1).tolist() == [1.0, 1.0, 1.0]


def test_rules_that_ask_gold_lack_signals_or_label_nothing_have_no_rows():
    rows = [row("q0", ["1", "2", "1", "1"]), row("q1", ["1", "1", None, "2"])]
    rules = {"oracle": Oracle(), "intuitor": Intuitor(), "scope": Scope(confidence="bottom_confidence"), "majority": Majority()}
    assert set(vote_rows(rows, GOLD, rules, batch=2).method) == {"majority"}


def test_a_bootstrap_larger_than_the_votes_is_left_out_and_otherwise_labels_count_by_rollout():
    rows = [row("q0", ["1", "2", "1", "1"]), row("q1", ["1", "1", None, "2"])]
    table = vote_rows(rows, GOLD, {"scope": Scope(), "four": Scope(bootstrap=4)}, batch=2)
    assert table.groupby("method").votes.unique().map(list).to_dict() == {"scope": [2, 4], "four": [4]}
    assert table.right.between(0, 1).all()


def test_a_block_is_a_row_of_its_own():
    part = block(row("q0", ["1", "2", "3", None]), slice(1, 3))
    assert (part.answers, len(part.signals["mean_logprob"])) == (("2", "3"), 2)
    assert isinstance(vote_rows([part], {"q0": "2"}, {"majority": Majority()}, 1), pd.DataFrame)
