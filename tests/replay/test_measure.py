"""Hand-made groups: what became of the vote's label, how far rules agree, and by which margin."""

import numpy as np
import pytest

from ttrlab.benchmarks import Gold
from ttrlab.evaluate.audit import StoredDecision
from ttrlab.files import write_jsonl
from ttrlab.replay.measure import Agreement, audited_counts
from ttrlab.replay.visits import Visit, margin_range, read_visits
from ttrlab.types import RewardDecision

CLASSES = np.array([0, 0, 0, 1, 1, -1])
VOTE_RIGHT = np.array([1, 1, 1, 0, 0, 0], dtype=np.int8)
VOTE_WRONG = np.array([0, 0, 0, 1, 1, 0], dtype=np.int8)


def made(label, abstained=False):
    rewards = np.zeros(6) if label is None else (label == CLASSES).astype(np.float64)
    return StoredDecision("q", 1, CLASSES, RewardDecision(rewards, label, abstained=abstained))


@pytest.mark.parametrize(
    ("correct", "decision", "fate"),
    [
        (VOTE_RIGHT, made(0), (0, 0, 0)),
        (VOTE_RIGHT, made(1), (0, 1, 0)),
        (VOTE_RIGHT, made(None, abstained=True), (0, 0, 1)),
        (VOTE_RIGHT, made(None), (0, 0, 0)),
        (VOTE_WRONG, made(1), (1, 0, 0)),
        (VOTE_WRONG, made(0), (0, 0, 0)),
        (VOTE_WRONG, made(None, abstained=True), (0, 0, 0)),
    ],
)
def test_what_became_of_the_vote_s_label(correct, decision, fate):
    counts = audited_counts(decision, Visit("q", 1, CLASSES, correct, ("all",)), 6)
    assert tuple(counts[name] for name in ("minority_recovered", "majority_lost", "majority_withheld")) == fate


def test_a_group_smaller_than_the_trained_number_is_audited_whole():
    assert audited_counts(made(0), Visit("q", 1, CLASSES, VOTE_RIGHT, ("all",)), 32)["rollouts"] == 6


def test_agreement_counts_labels_where_both_are_given_and_rewards_everywhere():
    agreement = Agreement(["a", "b", "c"])
    agreement.add([made(0), made(1), made(None, abstained=True)])
    agreement.add([made(0), made(0), made(1)])
    table = agreement.table().set_index(["method", "other"])
    assert table.loc[("a", "b")].tolist() == [0.5, 2, (1 + 6) / 12, 12]
    assert table.loc[("b", "c")].tolist() == [0.0, 1, (4 + 1) / 12, 12]
    assert table.loc[("c", "c"), "label_agreement"] == 1
    none = Agreement(["a"])
    none.add([made(None)])
    assert np.isnan(none.table().label_agreement[0])


@pytest.mark.parametrize(
    ("margin", "name"),
    [(0, "margin=0"), (1 / 64, "margin=0-0.25"), (0.25, "margin=0-0.25"), (0.26, "margin=0.25-0.5"), (1, "margin=0.75-1")],
)
def test_margins_fall_into_ranges_with_their_upper_end(margin, name):
    assert margin_range(margin) == name


def test_a_visit_belongs_to_all_to_its_margin_and_to_its_tags_and_is_undecided_without_gold(tmp_path):
    row = {"question_id": "q", "step": 1, "answers": ["1", "2", None], "answer_class": [0, 1, -1], "margin": 0.0}
    write_jsonl(tmp_path / "visits.jsonl", [row])
    (visit,) = read_visits(tmp_path / "visits.jsonl", {"q": Gold("1", {"level": 3, "subject": "x"})})
    assert visit.strata == ("all", "margin=0", "level=3", "subject=x")
    assert visit.correct.tolist() == [1, 0, 0]
    assert (visit.vote, visit.verdict(0), visit.verdict(1), visit.verdict(None)) == (0, 1, 0, 0)
    (blind,) = read_visits(tmp_path / "visits.jsonl", None)
    assert blind.correct.tolist() == [-1, -1, -1]
