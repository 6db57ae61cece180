"""Two-digit sums and products: right, without repetition, the same for the same seed, and disjoint where the stretches are."""

import pytest

from ttrlab.benchmarks import load_benchmark
from ttrlab.benchmarks.arithmetic import PAIRS, questions
from ttrlab.config.arithmetic import TwoDigit
from ttrlab.config.catalogue import ArithmeticBenchmark


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
