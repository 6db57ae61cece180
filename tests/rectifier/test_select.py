import numpy as np
import pytest
from judging import CountingJudge, judged_group

from ttrlab.rectifier.select import SELECTORS, Selection, SelectionCost, judge_eligible, selection_cost
from ttrlab.types import Question, Rollout, RolloutGroup

NAN = float("nan")


def select(name, group):
    return SELECTORS[name](group)


def test_equation_7_divides_the_passing_support_by_the_root_of_the_valid_judgements():
    alone = judged_group([0, 0, 0, 1], [9, 7, 3, 8.0])  # S(0) = (5 + 3 + 0) / sqrt(3) = 4.6188, S(1) = 4
    assert select("weighted", alone) == Selection(0, (0, 1, 2, 3))
    better = judged_group([0, 0, 0, 1], [9, 7, 3, 9.0])  # S(1) = 5
    assert select("weighted", better).label == 1


def test_equation_7_leaves_unresolved_judgements_out_of_the_count():
    group = judged_group([0, 0, 0, 1], [9, -1, -1, 8.0])  # S(0) = 5 / 1, S(1) = 4
    assert select("weighted", group).label == 0


def test_equation_7_prefers_more_votes_then_sampling_order_on_ties():
    assert select("weighted", judged_group([0, 1, 1, 1, 1], [6, 5, 5, 5, 5.0])).label == 1  # 2 / 1 = 4 / 2
    assert select("weighted", judged_group([0, 1], [8, 8.0])).label == 0


@pytest.mark.parametrize("name", SELECTORS)
def test_where_nothing_passes_the_majority_is_chosen(name):
    assert select(name, judged_group([0, 1, 1, 2], [4, 0, -1, 4.0])).label == 1


@pytest.mark.parametrize("name", SELECTORS)
def test_where_nothing_is_eligible_the_majority_of_all_votes_is_chosen_without_judgements(name):
    assert select(name, judged_group([0, 1, 1, -1], [NAN] * 4, fits=[False] * 4)) == Selection(1, ())


@pytest.mark.parametrize("name", SELECTORS)
def test_where_nothing_was_parsed_nothing_is_chosen(name):
    assert select(name, judged_group([-1, -1], [NAN, NAN])) == Selection(None, ())


def test_the_majority_costs_no_judgement_and_breaks_ties_by_order():
    assert select("majority", judged_group([0, 1, 1, 0], [9, 9, 9, 9.0])) == Selection(0, ())


@pytest.mark.parametrize(
    "scores, label, used",
    [
        ([7, 9, 9, 9, 9, 9], 0, (0,)),
        ([4, 9, 9, 6, 9, 9], 1, (0, 3)),
        ([4, 9, 9, 4, 9, 9], 0, (0, 3)),
        ([4, 9, 9, -1, 9, 9], 0, (0, 3)),
        ([-1, 9, 9, 9, 9, 9], 0, (0,)),
    ],
)
def test_the_sequential_selector_asks_rank_2_only_after_an_explicit_rejection(scores, label, used):
    group = judged_group([0, 0, 0, 1, 1, 2], np.array(scores, dtype=float))
    assert select("sequential", group) == Selection(label, used)


def test_the_sequential_selector_uses_the_first_eligible_member():
    group = judged_group([0, 0, 1], [NAN, 8, 9.0], fits=[False, True, True])
    assert select("sequential", group) == Selection(0, (1,))


def test_one_representative_each_of_the_two_largest():
    group = judged_group([0, 0, 0, 1, 1, 2], [6, 10, 10, 8, 10, 10.0])
    assert select("top2_representatives", group) == Selection(1, (0, 3))


def test_score_comes_first_then_votes_then_sampling_order():
    assert select("all", judged_group([0, 0, 1], [8, 5, 9.0])).label == 1
    assert select("all", judged_group([0, 1, 1], [9, 9, 5.0])).label == 1
    assert select("all", judged_group([0, 1], [9, 9.0])).label == 0


def test_top_2_and_top_3_look_no_further():
    group = judged_group([0, 0, 0, 0, 1, 1, 1, 2, 2, 3], [5, 5, 5, 5, 6, 6, 6, 7, 7, 8.0])
    assert [select(name, group).label for name in ("top2", "top3", "all")] == [1, 2, 3]
    assert [len(select(name, group).used) for name in ("top2", "top3", "all")] == [7, 9, 10]


def test_a_missing_judgement_of_an_eligible_roll_out_is_an_error():
    with pytest.raises(ValueError, match="roll-out 1 is eligible but was not judged"):
        select("all", judged_group([0, 1], [9, NAN]))


def test_judgements_and_output_tokens_are_counted_per_selector():
    groups = [judged_group([0, 0, 1], [9, 9, 9.0], tokens=[100, 10, 1]), judged_group([0, -1, 1], [4, NAN, 9.0], tokens=[7, 0, 5])]
    costs = {name: selection_cost(groups, [select(name, g) for g in groups]) for name in SELECTORS}
    assert costs["majority"] == SelectionCost(0, 0)
    assert costs["sequential"] == SelectionCost(3, 100 + 7 + 5)
    assert costs["weighted"] == costs["all"] == SelectionCost(5, 111 + 12)


def test_all_eligible_roll_outs_are_judged_in_one_batch():
    rollouts = (
        Rollout("a", answer="333"),
        Rollout("b"),
        Rollout("c", answer="22", truncated=True),
        Rollout("x" * 200, answer="1"),
        Rollout("d", answer="22"),
    )
    group = RolloutGroup(Question("q", "1+1"), rollouts, np.array([0, -1, 1, 2, 1]))
    judge = CountingJudge()
    first, second = judge_eligible([group, group], judge)
    assert [len(batch) for batch in judge.batches] == [4]
    assert first.signals["judge_fits"].tolist() == [True, False, False, False, True]
    assert np.array_equal(first.signals["judge_score"], [3, NAN, NAN, NAN, 2], equal_nan=True)
    assert second.signals["judge_tokens"].tolist() == [3, 0, 0, 0, 3]
