"""TRUER's cascade: its truth table, who is asked, and the driver that loop and replay share."""

import numpy as np
import pytest
from groups import group, judged

from ttrlab.adapt.decide import decide
from ttrlab.rectifier.judge import JudgedItem
from ttrlab.rewards import Majority, Truer, VoteFilter

VALID, BAD, UNRESOLVED = 9, 2, -1


def cascade(answers, scores, fits=None, **fields):
    """(label, branch, judged roll-outs) of the rule, whose judge gives ``scores``."""
    n = len(answers)
    fits = np.array([a is not None for a in answers]) if fits is None else np.array(fits)
    rule = Truer(**fields)
    g = judged(rule, group(answers, {"judge_score": np.full(n, np.nan), "judge_fits": fits}), scores)
    decision = rule(g)
    branch = [name for name, value in decision.stats.items() if value == 1.0 and name != "judged"]
    return decision, branch, np.flatnonzero(np.isfinite(g.signals["judge_score"].astype(float))).tolist()


AAABBC = ["a", "a", "a", "b", "b", "c"]


@pytest.mark.parametrize(
    "answers, scores, label, branch, asked",
    [
        (AAABBC, [VALID] * 6, 0, "accepted_rank1", [0]),
        (AAABBC, [5] * 6, 0, "accepted_rank1", [0]),
        (AAABBC, [4, 9, 9, 5, 0, 0], 1, "accepted_rank2", [0, 3]),
        (AAABBC, [BAD, 9, 9, BAD, 9, 9], None, "rejected_rank2", [0, 3]),
        (AAABBC, [BAD, 9, 9, UNRESOLVED, 9, 9], None, "unresolved_rank2", [0, 3]),
        (AAABBC, [UNRESOLVED, 9, 9, VALID, 9, 9], None, "unresolved_rank1", [0]),
        (["a", "a", "b", "b", "c"], [VALID] * 5, None, "tie_rank1", []),
        (["a", "a", "a", "b", "b", "c", "c"], [BAD] + [VALID] * 6, None, "tie_rank2", [0]),
        (["a", "a"], [BAD, VALID], None, "rejected_rank1", [0]),
        (["a", "a"], [VALID, BAD], 0, "accepted_rank1", [0]),
        ([None, None], [VALID] * 2, None, "nothing_parsed", []),
        ([None, "b", "a", "a", "a", "b"], [VALID, BAD, 7, 1, 1, 1], 1, "accepted_rank1", [2]),
        (["b", "a", "a"], [8, BAD, VALID], 0, "accepted_rank2", [0, 1]),
    ],
)
def test_the_truth_table_of_the_cascade(answers, scores, label, branch, asked):
    decision, branches, judged_rollouts = cascade(answers, scores)
    assert decision.pseudo_label == label
    assert branches == [branch]
    assert judged_rollouts == asked
    assert decision.abstained == (label is None)
    classes = group(answers).answer_class
    assert decision.rewards.tolist() == [float(label is not None and c == label) for c in classes]


def test_the_representative_is_the_first_eligible_rollout():
    decision, branch, asked = cascade(AAABBC, [BAD, VALID, BAD, BAD, BAD, BAD], fits=[False, True, True, True, True, True])
    assert (decision.pseudo_label, branch, asked) == (0, ["accepted_rank1"], [1])


def test_votes_count_whether_or_not_a_rollout_can_be_judged():
    decision, branch, asked = cascade(AAABBC, [VALID] * 6, fits=[False, False, False, True, True, True])
    assert (decision.pseudo_label, branch, asked) == (None, ["ineligible_rank1"], [])
    decision, branch, _ = cascade(AAABBC, [BAD] * 6, fits=[True, True, True, False, False, True])
    assert (decision.pseudo_label, branch) == (None, ["ineligible_rank2"])


def test_rank1_only_never_asks_about_the_second_answer():
    decision, branch, asked = cascade(AAABBC, [BAD] + [VALID] * 5, rank1_only=True)
    assert (decision.pseudo_label, branch, asked) == (None, ["rejected_rank1"], [0])


def test_a_missing_judgement_is_an_error_not_an_abstention():
    g = group(AAABBC, {"judge_score": np.full(6, np.nan), "judge_fits": np.ones(6, bool)})
    assert Truer().requests(g) == (0,)
    with pytest.raises(ValueError, match="'q1': roll-out 0 has not been judged yet"):
        Truer()(g)


def test_the_threshold_is_inclusive_and_moves():
    assert cascade(AAABBC, [5] * 6, tau=6)[0].pseudo_label is None
    assert cascade(AAABBC, [6] * 6, tau=6)[0].pseudo_label == 0


class FakeJudge:
    """Scores by answer; remembers how it was asked."""

    identity = "fake"

    def __init__(self, scores):
        self.scores, self.rounds = scores, []

    def fits(self, item):
        return True

    def judge(self, items):
        self.rounds.append([item.answer for item in items])
        return [JudgedItem(self.scores[item.answer], "because", 3) for item in items]


def test_the_shared_driver_asks_all_questions_of_a_step_at_once_and_decides_alike():
    groups = [group(AAABBC, name="q1"), group(["x", "x", "y"], name="q2")]
    judge = FakeJudge({"a": BAD, "b": VALID, "x": VALID})
    held, decisions = decide(Truer(), groups, judge)
    assert judge.rounds == [["a", "x"], ["b"]]
    assert [d.pseudo_label for d in decisions] == [1, 0]
    assert np.array_equal(decisions[0].rewards, cascade(AAABBC, [BAD, 0, 0, VALID, 0, 0])[0].rewards)
    assert np.isnan(held[1].signals["judge_score"][1])


@pytest.mark.parametrize(
    "answers, fields, label",
    [
        (["a"] * 9 + ["b"], {"margin": 8}, 0),
        (["a"] * 9 + ["b"] * 2, {"margin": 8}, None),
        (["a"] * 8, {"margin": 8}, 0),
        (["a"] * 23 + ["b"] * 9, {"margin": 0, "support": 24}, None),
        (["a"] * 24 + ["b"] * 8, {"margin": 0, "support": 24}, 0),
        ([None] * 4, {}, None),
    ],
)
def test_vote_filters_keep_clear_majorities(answers, fields, label):
    decision = VoteFilter(**fields)(group(answers))
    assert decision.pseudo_label == label
    assert decision.abstained == (label is None)


def test_a_filter_without_a_threshold_is_the_vote():
    rng = np.random.default_rng(0)
    for _ in range(200):
        g = group([None if a == 0 else str(a) for a in rng.integers(0, 5, 12)])
        ours, vote = VoteFilter(margin=0)(g), Majority()(g)
        assert (ours.pseudo_label, ours.rewards.tolist()) == (vote.pseudo_label, vote.rewards.tolist())
