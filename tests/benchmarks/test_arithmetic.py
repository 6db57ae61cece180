"""Two-digit sums and products: right, without repetition, the same for the same seed, and disjoint where the stretches are."""

import numpy as np
import pytest

from ttrlab.benchmarks import load_benchmark, overlaps
from ttrlab.benchmarks.arithmetic import PAIRS, SURE_ACCEPTING, SURE_REFUSING, questions, written_judgement
from ttrlab.config.arithmetic import TwoDigit
from ttrlab.config.catalogue import ArithmeticBenchmark
from ttrlab.rectifier.judgement import conflicts, read_judgement
from ttrlab.types import Question


@pytest.mark.parametrize(("operation", "sign"), [("sum", "+"), ("product", "*")])
def test_gold_is_what_the_question_asks(operation, sign):
    for question, gold in questions(TwoDigit(operation=operation), 200):
        a, asked, b = question.prompt.removeprefix("What is ").removesuffix("?").split()
        assert asked == sign
        assert int(gold) == (int(a) + int(b) if operation == "sum" else int(a) * int(b))


@pytest.mark.parametrize("operation", ["sum", "product"])
def test_all_questions_there_are_differ(operation):
    made = questions(TwoDigit(operation=operation), len(PAIRS[operation]))
    assert len({question.id for question, _ in made}) == len(made)
    if operation == "sum":
        assert len({frozenset(question.id.split("+")) for question, _ in made}) == len(made)


def test_the_seed_gives_the_order_and_stretches_share_nothing():
    whole = questions(TwoDigit(operation="sum"), 80)
    assert whole[40:] == questions(TwoDigit(operation="sum", first=40), 40)
    assert whole != questions(TwoDigit(operation="sum", seed=1), 80)


def test_a_stretch_beyond_the_last_pair_is_refused_with_the_numbers():
    with pytest.raises(ValueError, match="first: 700 and rows: 40 given, but there are only 712 two-digit products"):
        questions(TwoDigit(operation="product", first=700), 40)


def test_a_catalogue_entry_loads_as_integers_with_gold_apart():
    loaded = load_benchmark("sums", ArithmeticBenchmark(operation="sum", rows=40))
    assert len(loaded.questions) == len(loaded.gold) == 40
    assert ArithmeticBenchmark(operation="sum", rows=40).kind == "integer"


def test_the_wording_surrounds_the_same_numbers_and_is_another_family():
    plain, reworded = (questions(TwoDigit(operation="sum", wording=wording), 20) for wording in ("What is {sum}?", "Compute {sum}."))
    assert [question.id for question, _ in plain] == [question.id for question, _ in reworded]
    assert overlaps([question for question, _ in reworded], [Question(f"other {q.id}", q.prompt) for q, _ in plain]) == []
    with pytest.raises(ValueError, match="wording"):
        TwoDigit(operation="sum", wording="What is it?")


@pytest.mark.parametrize(
    ("question", "answer", "reason", "scores"),
    [
        ("Compute 27 + 35.", "62", "27 + 35 = 62, so correct", SURE_ACCEPTING),
        ("Compute 27 + 35.", "52", "27 + 35 = 62, so wrong", SURE_REFUSING),
        ("What is 26 * 4?", "104", "26 * 4 = 104, so correct", SURE_ACCEPTING),
    ],
)
def test_a_written_judgement_works_the_sum_out_and_is_valid(question, answer, reason, scores):
    judgement = read_judgement(written_judgement(np.random.default_rng(0), question, answer), truncated=False)
    assert (judgement.fault, judgement.reason) == (None, reason)
    assert judgement.score in scores
    assert not conflicts(judgement)


def test_a_judgement_of_no_sum_is_refused():
    with pytest.raises(ValueError, match="expected a question with a sum or product such as 27 \\+ 35, got 'Who\\?'"):
        written_judgement(np.random.default_rng(0), "Who?", "62")
