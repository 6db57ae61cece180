from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ttrlab.config.settings import Evaluation
from ttrlab.evaluate import metrics
from ttrlab.pools import PoolRow

verdict_arrays = hnp.arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 12)), elements=st.sampled_from([1, 0, -1]))


def graded(correct: list[list[int]], classes: list[list[int]] | None = None, truncated: bool = False) -> metrics.Graded:
    verdicts = np.array(correct, dtype=np.int8)
    labels = np.zeros(verdicts.shape, dtype=np.int64) if classes is None else np.array(classes)
    ids = tuple(f"q{i}" for i in range(len(verdicts)))
    return metrics.Graded(ids, verdicts, labels, np.full(verdicts.shape, truncated), np.full(verdicts.shape, 7))


def score(name: str, data: metrics.Graded, greedy: metrics.Graded | None = None) -> metrics.Score:
    return metrics.measure([name], data, greedy)[0]


def test_mean_at_k_uses_the_first_k_samples_alone():
    assert score("mean@2", graded([[1, 0, 1, 1], [1, 1, 0, 0]])).per_question.tolist() == [0.5, 1.0]


@given(verdict_arrays, st.data())
def test_pass_at_k_is_one_minus_the_share_of_draws_without_a_correct_one(correct, data):
    n = correct.shape[1]
    k = data.draw(st.integers(1, n))
    expected = [1 - comb(n - c, k) / comb(n, k) for c in (correct == 1).sum(axis=1)]
    assert metrics.pass_at(correct, k) == pytest.approx(expected)


def test_pass_at_2_of_32_is_truers_formula():
    correct = np.array([[1] * 5 + [0] * 27], dtype=np.int8)
    assert metrics.pass_at(correct, 2)[0] == pytest.approx(1 - (32 - 5) * (31 - 5) / (32 * 31))
    assert metrics.pass_at(correct, 32)[0] == 1.0


@given(verdict_arrays)
def test_undecided_lies_between_the_lower_and_the_upper_value_and_is_counted(correct):
    n = correct.shape[1]
    data = metrics.Graded(
        tuple(map(str, range(len(correct)))), correct, np.zeros(correct.shape, np.int64), correct > 5, np.ones_like(correct)
    )
    for name in (f"mean@{n}", f"pass@{n}", f"majority@{n}"):
        result = score(name, data)
        assert 0 <= result.value <= result.upper <= 1
        assert (result.value == result.upper) or result.undecided > 0
    assert score(f"mean@{n}", data).undecided == (correct == -1).sum()


def test_an_undecided_roll_out_is_not_a_zero():
    result = score("mean@4", graded([[1, -1, 0, 0]]))
    assert (result.value, result.upper, result.undecided, result.denominator) == (0.25, 0.5, 1, 4)


def test_majority_takes_the_most_frequent_answer_and_the_first_on_a_tie():
    data = graded([[0, 1, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]], [[0, 1, 1, 2], [0, 1, 0, 1], [-1, -1, -1, -1]])
    assert score("majority@4", data).per_question.tolist() == [1.0, 0.0, 0.0]
    assert score("majority@1", data).per_question.tolist() == [0.0, 0.0, 0.0]


def test_unparsed_samples_do_not_vote_however_many_they_are():
    assert score("majority@4", graded([[0, 0, 0, 1]], [[-1, -1, -1, 0]])).value == 1.0


def test_an_undecided_winner_is_undecided():
    result = score("majority@3", graded([[-1, -1, 1]], [[0, 0, 1]]))
    assert (result.value, result.upper, result.undecided) == (0.0, 1.0, 1)


def test_shares_and_tokens_are_over_all_samples():
    data = graded([[1, 0], [0, -1]], [[0, -1], [-1, 0]], truncated=True)
    values = [s.value for s in metrics.measure(["unparsed", "truncated", "undecided", "tokens"], data)]
    assert values == [0.5, 1.0, 0.25, 7.0]


def test_greedy_comes_from_the_greedy_roll_outs_and_is_refused_without_them():
    assert score("greedy", graded([[0, 0]]), graded([[1]])).value == 1.0
    with pytest.raises(ValueError, match="none were given"):
        score("greedy", graded([[0, 0]]))


@pytest.mark.parametrize("name", ["mean", "mean@0", "mean@x", "greedy@2", "accuracy", "tokens@3", "pass@-1"])
def test_an_unknown_metric_is_refused_with_the_list_of_known_ones(name):
    with pytest.raises(ValueError, match=r"unknown metric .*majority@k"):
        metrics.parse_metric(name)


def test_every_metric_that_a_study_may_name_is_known():
    names = Evaluation(samples=32, metrics=("mean@16", "pass@32", "majority@32", "greedy")).metrics
    assert [metrics.parse_metric(name) for name in names] == [("mean", 16), ("pass", 32), ("majority", 32), ("greedy", 1)]


@pytest.mark.parametrize("name", ["mean@3", "pass@3", "majority@3"])
def test_more_samples_than_there_are_is_refused(name):
    with pytest.raises(ValueError, match="3"):
        score(name, graded([[1, 0]]))


def test_misaligned_or_strange_arrays_are_refused():
    with pytest.raises(ValueError, match="only 1, 0 and -1"):
        graded([[2]])
    with pytest.raises(ValueError, match="answer_class has shape"):
        graded([[1, 0]], [[0]])


def row(question: str, answers: tuple[str | None, ...], step: int = 0) -> PoolRow:
    n = len(answers)
    return PoolRow(question, step, 0, ("",) * n, answers, (False,) * n, tuple(range(n)))


def test_a_pool_is_graded_against_gold_by_question_id():
    rows = [row("a", ("8", "9", None, "8")), row("b", ("9", "9", "8", "3"))]
    data = metrics.grade_pool(rows, {"b": "9", "a": "8", "unused": "1"})
    assert data.correct.tolist() == [[1, 0, 0, 1], [1, 1, 0, 0]]
    assert data.answer_class.tolist() == [[0, 1, -1, 0], [0, 0, 1, 2]]
    assert data.tokens.tolist() == [[0, 1, 2, 3]] * 2


def test_a_pool_with_a_stranger_a_double_or_uneven_rows_is_refused_by_question():
    with pytest.raises(KeyError, match="question 'z' has no gold answer"):
        metrics.grade_pool([row("z", ("1",))], {"a": "1"})
    with pytest.raises(ValueError, match="question 'a' .* comes twice"):
        metrics.grade_pool([row("a", ("1",)), row("a", ("1",))], {"a": "1"})
    with pytest.raises(ValueError, match="question 'b' has 2 samples, 'a' has 1"):
        metrics.grade_pool([row("a", ("1",)), row("b", ("1", "2"))], {"a": "1", "b": "1"})
    with pytest.raises(ValueError, match="beside step 0"):
        metrics.grade_pool([row("a", ("1",)), row("b", ("1",), step=5)], {"a": "1", "b": "1"})
    with pytest.raises(ValueError, match="empty pool"):
        metrics.grade_pool([], {})
