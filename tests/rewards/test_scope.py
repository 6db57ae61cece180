"""SCOPE: the Pareto golden, subgroups and their labels, the ablations' limits, the public code's faults."""

import numpy as np
import pytest
from groups import formed, group, random_rollouts
from pydantic import ValidationError

from ttrlab.rewards import Majority, Scope, ScopeReleased
from ttrlab.rewards.pareto import choose, distances, pareto_front
from ttrlab.types import NO_ANSWER

SIZES = (1, 2, 4, 8, 16, 32, 64)
QUALITY = np.array([0.40, 0.41, 0.42, 0.41, 0.43, 0.42, 0.425])
DIVERSITY = np.array([3, 2.5, 2, 1.5, 1.25, 1, 1])


def test_the_golden_front_holds_1_2_4_and_16():
    assert [m for m, on in zip(SIZES, pareto_front(QUALITY, DIVERSITY), strict=True) if on] == [1, 2, 4, 16]


@pytest.mark.parametrize("trade_off, size", [(0, 1), (0.3, 2), (0.5, 4), (0.7, 4), (1, 16)])
def test_the_golden_choice_moves_to_larger_subgroups_with_lambda(trade_off, size):
    assert SIZES[choose(QUALITY, DIVERSITY, trade_off)] == size


def test_the_golden_distances_at_one_half():
    held = distances(QUALITY, DIVERSITY, 0.5)
    assert held[[0, 1, 2, 4]] == pytest.approx([0.707107, 0.512873, 0.467783, 0.707107], abs=5e-7)
    assert np.isinf(held[[3, 5, 6]]).all()


def test_equal_candidates_give_the_smallest_subgroup():
    assert choose(np.ones(3), np.ones(3), 0.5) == 0


def plain_front(r, d):
    return [not any(r[j] >= r[i] and d[j] >= d[i] and (r[j] > r[i] or d[j] > d[i]) for j in range(len(r))) for i in range(len(r))]


def test_the_front_equals_pairwise_dominance_on_random_candidates():
    rng = np.random.default_rng(0)
    for _ in range(300):
        r, d = rng.integers(0, 4, 7) / 4, rng.integers(1, 4, 7) / 1.0
        assert pareto_front(r, d).tolist() == plain_front(r, d)


def weighted(answers, confidence, **fields):
    return group(answers, {"step_confidence": np.asarray(confidence, dtype=float)}, **fields)


def test_without_subgroups_one_confidence_weighted_label_serves_all():
    g = weighted(["b", "b", "b", "d", "d"], [1, 1, 1, 2, 2])
    decision = Scope(subgroups=False)(g)
    assert decision.rewards.tolist() == [0, 0, 0, 1, 1]
    assert set(decision.labels) == {1}
    assert Scope(subgroups=False, confidence=None)(g).rewards.tolist() == Majority()(g).rewards.tolist()


def test_constant_confidence_is_the_ablation_without_confidence():
    rng = np.random.default_rng(1)
    for seed in range(30):
        answers = list(rng.choice(["1", "2", "3"], 16))
        constant = weighted(answers, np.full(16, 11.5), seed=seed)
        assert np.array_equal(Scope()(constant).rewards, Scope(confidence=None)(constant).rewards)


@pytest.mark.parametrize("m, labels", [(64, 1), (8, 8), (1, 64)])
def test_a_fixed_size_gives_one_draw_a_subgroup(m, labels):
    g = formed(Scope(), random_rollouts(0, 64))
    decision = Scope(sizes=(m,))(g)
    blocks = decision.labels.reshape(-1, m)
    assert blocks.shape[0] == labels
    assert (blocks == blocks[:, :1]).all()
    assert decision.stats["subgroup_size"] == m


def test_each_rollout_is_compared_with_the_label_of_its_own_subgroup():
    g = formed(Scope(), random_rollouts(0, 64, shares=(0.3, 0.3, 0.15, 0.15, 0.1)))
    decision = Scope(sizes=(2,), trade_off=0)(g)
    assert np.unique(decision.labels).size > 1
    assert decision.rewards.tolist() == [float(a == label != NO_ANSWER) for a, label in zip(g.answer_class, decision.labels, strict=True)]


def test_a_whole_group_in_one_subgroup_still_votes_on_half_of_it():
    answers = ["a"] * 33 + ["b"] * 31
    labels = {Scope(sizes=(64,), confidence=None)(group(answers, seed=seed)).pseudo_label for seed in range(40)}
    assert labels == {0, 1}


def test_lambda_0_chooses_diversity_and_lambda_1_quality():
    groups = [formed(Scope(), random_rollouts(i, 64), seed=i, name=f"q{i}") for i in range(8)]
    diverse, good = Scope(trade_off=0).decide_all(groups)[0].stats, Scope(trade_off=1).decide_all(groups)[0].stats
    assert diverse[f"diversity_{diverse['subgroup_size']:.0f}"] == max(v for k, v in diverse.items() if k.startswith("diversity"))
    assert good[f"quality_{good['subgroup_size']:.0f}"] == max(v for k, v in good.items() if k.startswith("quality"))


def test_one_size_serves_the_step_unless_each_question_chooses():
    groups = [formed(Scope(), random_rollouts(i, 64), seed=i, name=f"q{i}") for i in range(12)]
    assert len({d.stats["subgroup_size"] for d in Scope().decide_all(groups)}) == 1
    alone = Scope(select="question").decide_all(groups)
    assert len({d.stats["subgroup_size"] for d in alone}) > 1
    assert all(np.array_equal(d.rewards, Scope()(g).rewards) for d, g in zip(alone, groups, strict=True))


def test_quality_says_nothing_about_the_size_while_diversity_falls_with_it():
    groups = [formed(Scope(), random_rollouts(i, 64), seed=i, name=f"q{i}") for i in range(60)]
    stats = Scope().decide_all(groups)[0].stats
    quality = [stats[f"quality_{m}"] for m in SIZES]
    diversity = [stats[f"diversity_{m}"] for m in SIZES]
    assert np.ptp(quality) < 0.02
    assert diversity == sorted(diversity, reverse=True)


def test_labels_are_drawn_anew_after_the_choice_unless_reused():
    groups = [formed(Scope(), random_rollouts(i, 64), seed=i, name=f"q{i}") for i in range(6)]
    fresh, kept = Scope().decide_all(groups), Scope(reuse_labels=True).decide_all(groups)
    assert any(not np.array_equal(a.labels, b.labels) for a, b in zip(fresh, kept, strict=True))
    size = kept[0].stats["subgroup_size"]
    assert np.mean([d.rewards.mean() for d in kept]) == pytest.approx(kept[0].stats[f"quality_{size:.0f}"])


def test_draws_depend_on_seed_and_question_and_on_nothing_else():
    rollouts = random_rollouts(3, 64)
    rule = Scope(sizes=(1,))
    labels = [rule(formed(rule, rollouts, seed=s, name=n)).labels for s, n in [(1, "q"), (1, "q"), (2, "q"), (1, "p")]]
    assert np.array_equal(labels[0], labels[1])
    assert not np.array_equal(labels[0], labels[2])
    assert not np.array_equal(labels[0], labels[3])


def test_a_subgroup_whose_draw_holds_no_answer_earns_nothing():
    decision = Scope(sizes=(1,), bootstrap=1, confidence=None)(group([None, "a", None, None], seed=5))
    assert NO_ANSWER in decision.labels
    assert not decision.rewards[decision.labels == NO_ANSWER].any()


def test_sizes_that_do_not_divide_the_votes_are_left_out_and_none_left_is_refused():
    stats = Scope(confidence=None)(group(["a"] * 12)).stats
    assert [name for name in stats if name.startswith("quality")] == ["quality_1", "quality_2", "quality_4"]
    with pytest.raises(ValueError, match=r"none of the subgroup sizes \(8,\) divides the number of roll-outs, \[12\]"):
        Scope(confidence=None, sizes=(8,))(group(["a"] * 12))


def test_more_draws_than_rollouts_need_replacement():
    with pytest.raises(ValueError, match="cannot draw 9 of 4 roll-outs without replacement"):
        Scope(confidence=None, bootstrap=9)(group(["a"] * 4))
    assert Scope(confidence=None, bootstrap=9, replace=True)(group(["a"] * 4)).rewards.tolist() == [1, 1, 1, 1]


def test_repeated_draws_count_as_often_as_they_are_drawn():
    g = weighted(["a", "b"], [1.0, 1.5])
    assert Scope().votes(g, np.array([0, 0, 1])[None])[0] == 0
    assert Scope().votes(g, np.array([0, 1])[None])[0] == 1


def test_a_negative_confidence_cannot_weigh_votes():
    with pytest.raises(ValueError, match=r"'step_confidence' weighs votes, so it must be >= 0; roll-out 1 has -2"):
        Scope()(weighted(["a", "b"], [1.0, -2.0]))


@pytest.mark.parametrize("sizes", [(), (2, 1), (0, 1), (1, 1)])
def test_sizes_must_ascend(sizes):
    with pytest.raises(ValidationError, match="sizes must be ascending positive numbers"):
        Scope(sizes=sizes)


def test_the_released_code_gives_an_answer_the_weight_of_the_rollout_drawn_in_its_place():
    """Answers [a, none, b] with weights [1, 9, 2]: dropping the unparsed answer alone hands b the weight 9."""
    g = group(["a", None, "b"], {"step_surprisal": np.array([1.0, 9, 2]), "step_confidence": np.array([3.0, 9, 2])})
    assert ScopeReleased().votes(g, np.arange(3)[None])[0] == 1
    assert Scope().votes(g, np.arange(3)[None])[0] == 0


def test_the_released_code_prefers_the_less_certain_answer():
    rng = np.random.default_rng(0)
    surprisal = np.where(np.arange(32) < 16, rng.uniform(0.1, 0.3, 32), rng.uniform(0.5, 0.9, 32))
    g = group(["sure"] * 16 + ["unsure"] * 16, {"step_surprisal": surprisal, "step_confidence": 14 - surprisal})
    assert ScopeReleased(sizes=(32,), bootstrap=32)(g).pseudo_label == 1
    assert Scope(sizes=(32,), bootstrap=32)(g).pseudo_label == 0


def test_the_released_code_breaks_ties_by_draw_order_and_elects_nothing_from_nothing():
    g = group(["a", "b", None], {"step_surprisal": np.array([1.0, 1, 1])})
    assert ScopeReleased().votes(g, np.array([1, 0])[None])[0] == 1
    assert ScopeReleased().votes(g, np.array([2])[None])[0] == NO_ANSWER
    assert ScopeReleased().trade_off == 0.7
