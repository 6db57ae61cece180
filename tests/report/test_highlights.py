"""What a replay shows at a glance, on two groups whose labels and verdicts are known."""

import numpy as np
import pytest

from ttrlab.grading import Verdict
from ttrlab.pools import PoolRow
from ttrlab.report import highlights


def row(name, answers):
    n = len(answers)
    signals = {"mean_logprob": np.linspace(-1.0, -0.1, n)}
    return PoolRow(name, 0, 0, tuple(map(str, answers)), tuple(answers), (False,) * n, (1,) * n, signals)


def decision(classes, label):
    equilibrium = [float(one == label) / max(1, classes.count(label)) for one in classes]
    return {"answer_class": classes, "pseudo_label": label, "labels": None, "per_rollout": {"equilibrium": equilibrium}}


ROWS = [row("even", ["4", "5", "4", None]), row("odd", ["7", "9", "9", "8"])]
CLASSES = [[0, 1, 0, -1], [0, 1, 1, 2]]
GOLD = {"even": "4", "odd": "7"}
DECISIONS = {
    "majority": [decision(CLASSES[0], 0), decision(CLASSES[1], 1)],
    "core": [decision(CLASSES[0], 0), decision(CLASSES[1], 0)],
    "quiet": [decision(CLASSES[0], None), decision(CLASSES[1], None)],
}


def grader(question, answer):
    return int(GOLD[question] == answer)


@pytest.fixture
def given():
    return highlights.labels(ROWS, DECISIONS)


def test_a_method_that_never_labels_is_left_out(given):
    assert given == {"majority": ["4", "9"], "core": ["4", "7"]}


def test_disagreements_count_who_is_right_where_two_differ(given):
    (pair,) = highlights.disagreements(ROWS, given, grader).to_dict("records")
    assert pair == {"method": "majority", "other": "core", "both label": 2, "differ": 1, "method right": 0, "other right": 1}


def test_questions_on_which_one_rule_is_right_and_another_wrong_come_first(given):
    assert highlights.most_disputed(ROWS, given, grader, 2) == [1, 0]
    assert highlights.chosen(given, 1) == "`9`: majority; `7`: core"


def test_classes_are_largest_first_with_verdict_and_mass():
    table = highlights.classes(ROWS[1], DECISIONS["core"][1], grader)
    assert table["answer"].tolist() == ["9", "7", "8"]
    assert table["is"].tolist() == ["wrong", "right", "wrong"]
    assert table["equilibrium"].tolist() == ["0.00", "1.00", "0.00"]


def test_answers_that_no_one_could_compare_are_listed_with_their_reason():
    def explain(answer, gold):
        return (Verdict.UNDECIDED, f"too long beside {gold}") if answer == "long" else (Verdict.YES, "")

    table = highlights.undecided([row("even", ["4", "long", "long", None])], GOLD, explain)
    assert table.to_dict("records") == [{"question": "even", "answer": "long", "roll-outs": 2, "reason": "too long beside 4"}]
