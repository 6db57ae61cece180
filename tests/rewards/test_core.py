"""CoRE against its golden vectors, a plain reference, and the vote that it generalises."""

import numpy as np
import pytest
from groups import formed, group, random_rollouts
from pydantic import ValidationError

from ttrlab.advantage import question_advantage
from ttrlab.rewards import EC, Cisc, Core, Majority

SIMILAR = np.full((6, 6), 0.5)
for (i, j), value in {(0, 1): 0.8, (0, 2): 0.7, (1, 2): 0.75, (3, 4): 0.95}.items():
    SIMILAR[i, j] = SIMILAR[j, i] = value
CONFIDENCE = [-0.5, -0.55, -0.6, -0.2, -0.25, -0.1]
SIX = group(["a", "a", "a", "b", "b", "c"], {"reasoning_similarity": 2 * SIMILAR - 1, "mean_logprob": CONFIDENCE})


def random_group(rng, n, classes=4, unparsed=0.1):
    answers = [None if rng.random() < unparsed else str(rng.integers(0, classes)) for _ in range(n)]
    features = rng.random((n, 12))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return group(answers, {"reasoning_similarity": features @ features.T, "mean_logprob": -rng.exponential(0.3, n)})


def plain_core(g, kappa=0.1, tau=0.25, alpha=0.1):
    """Section 3 of the paper with loops; returns x*, R before ties are settled, w_q."""
    y, cos, c, n = g.answer_class, g.signals["reasoning_similarity"], g.signals["mean_logprob"], g.n
    parsed = [i for i in range(n) if y[i] >= 0]
    top = max(c[i] for i in parsed)
    w = {i: np.exp((c[i] - top) / tau) for i in parsed}
    a = {(i, j): (kappa + (1 - kappa) * (1 + cos[i, j]) / 2) * (y[i] == y[j]) * (i != j) for i in parsed for j in parsed}
    shifted = {(i, j): a[i, j] * np.sqrt(w[i] * w[j]) - alpha * (i == j) + alpha for i, j in a}
    x = dict.fromkeys(parsed, 1 / len(parsed))
    for _ in range(200):
        support = {i: sum(shifted[i, j] * x[j] for j in parsed) for i in parsed}
        mean = sum(x[i] * support[i] for i in parsed)
        new = {i: x[i] * support[i] / mean for i in parsed}
        moved = sum((new[i] - x[i]) ** 2 for i in parsed) ** 0.5
        x = new
        if moved < 1e-6:
            break
    readout = {i: sum(a[i, j] * x[j] for j in parsed) for i in parsed}
    best = max(readout.values())
    rewards = np.array([readout[i] / best if i in x and best > 0 and readout[i] / best >= 1e-5 else 0.0 for i in range(n)])
    return np.array([x.get(i, 0.0) for i in range(n)]), rewards, sum(x[i] * readout[i] for i in parsed)


def test_equilibrium_consensus_gives_the_golden_vector():
    decision = EC()(SIX)
    assert decision.per_rollout["equilibrium"] == pytest.approx([0.334513, 0.349947, 0.315541, 0, 0, 0], abs=5e-7)
    assert decision.rewards == pytest.approx([0.997026, 1, 0.993367, 0, 0, 0], abs=5e-7)
    assert decision.weight == pytest.approx(0.517242, abs=5e-7)
    assert decision.pseudo_label == 0


@pytest.mark.parametrize("shift", ["full", "block", "none"])
def test_confidence_turns_the_golden_vector_to_the_minority_under_any_shift(shift):
    decision = Core(shift=shift)(SIX)
    assert decision.per_rollout["weight"] == pytest.approx([0.201897, 0.165299, 0.135335, 0.67032, 0.548812, 1], abs=5e-7)
    assert decision.per_rollout["equilibrium"] == pytest.approx([0, 0, 0, 0.5, 0.5, 0], abs=1e-6)
    assert decision.rewards.tolist() == pytest.approx([0, 0, 0, 1, 1, 0], abs=1e-6)
    assert decision.weight == pytest.approx(0.4775, abs=1e-6)
    assert decision.pseudo_label == 1
    assert Majority()(SIX).pseudo_label == 0


def test_random_groups_equal_the_paper_written_with_loops():
    rng = np.random.default_rng(0)
    for _ in range(25):
        g = random_group(rng, int(rng.integers(4, 14)))
        decision = Core(tie="keep")(g)
        x, rewards, gate = plain_core(g)
        assert decision.per_rollout["equilibrium"] == pytest.approx(x, abs=1e-10)
        if not decision.abstained:
            assert decision.rewards == pytest.approx(rewards, abs=1e-9)
            assert decision.weight == pytest.approx(gate, abs=1e-10)


@pytest.mark.parametrize("shift", ["full", "block", "none"])
def test_kappa_1_without_confidence_and_gate_is_the_majority_vote(shift):
    """Exact wherever two roll-outs agree, ties included."""
    rng, rule, compared = np.random.default_rng(1), EC(kappa=1, gate=False, shift=shift), 0
    for _ in range(1500):
        g = random_group(rng, int(rng.integers(2, 33)), classes=int(rng.integers(1, 8)))
        if g.parsed.any() and g.counts.max() >= 2:
            ours, vote = rule(g), Majority()(g)
            assert ours.pseudo_label == vote.pseudo_label
            assert ours.rewards == pytest.approx(vote.rewards, abs=1e-9)
            assert ours.weight == 1.0
            compared += 1
    assert compared > 1000


@pytest.mark.parametrize("rule", [EC(), Core(), Core(readout_matrix="A_prime"), Core(shift="block")])
def test_an_exact_tie_goes_to_the_first_answer_unless_both_are_kept(rule):
    similar = np.ones((4, 4))
    g = group(["a", "b", "b", "a"], {"reasoning_similarity": similar, "mean_logprob": np.zeros(4)})
    assert rule(g).pseudo_label == 0
    assert rule(g).rewards.tolist() == pytest.approx([1, 0, 0, 1])
    assert rule.model_copy(update={"tie": "keep"})(g).rewards.tolist() == pytest.approx([1, 1, 1, 1])


def test_gate_and_rewards_stay_in_their_ranges():
    rng = np.random.default_rng(2)
    for _ in range(200):
        decision = Core()(random_group(rng, 20, classes=6))
        assert 0 <= decision.weight < 1
        assert decision.rewards.min() >= 0
        assert decision.rewards.max() in (0.0, 1.0)


def test_a_constant_added_to_all_confidences_changes_nothing():
    rng = np.random.default_rng(3)
    for _ in range(50):
        g = random_group(rng, 16)
        moved = group([r.answer for r in g.rollouts], {**g.signals, "mean_logprob": g.signals["mean_logprob"] - 7.5})
        assert Core()(moved).rewards == pytest.approx(Core()(g).rewards, abs=1e-9)


def test_any_shift_constant_of_at_least_alpha_gives_the_same_consensus():
    rng = np.random.default_rng(4)
    for _ in range(40):
        g = random_group(rng, 12)
        near, far = Core(epsilon=1e-12, t_max=20000)(g), Core(c=0.4, epsilon=1e-12, t_max=80000)(g)
        assert near.rewards == pytest.approx(far.rewards, abs=1e-4)
    with pytest.raises(ValidationError, match=r"c must be at least alpha.*c=0\.05, alpha=0\.1"):
        Core(c=0.05)


@pytest.mark.parametrize("answers", [["a"], ["a", "b", "c"], ["a", None, "b"], [None, None]])
@pytest.mark.parametrize("rule", [EC(), Core(), Core(shift="none"), Core(readout_matrix="A_selfloop")])
def test_where_no_two_rollouts_agree_the_rule_abstains(rule, answers):
    n = len(answers)
    decision = rule(group(answers, {"reasoning_similarity": np.ones((n, n)), "mean_logprob": np.zeros(n)}))
    assert decision.abstained
    assert decision.pseudo_label is None
    assert not decision.rewards.any()


def test_a_very_confident_rollout_without_an_answer_rescales_nobody():
    answers, c = ["a", "a", "b", "b", "b"], [-0.1, -0.1, -0.9, -0.9, -0.9]
    plain = Core()(group(answers, {"reasoning_similarity": np.ones((5, 5)), "mean_logprob": c}))
    with_it = Core()(group([*answers, None], {"reasoning_similarity": np.ones((6, 6)), "mean_logprob": [*c, 100.0]}))
    assert with_it.rewards[:5] == pytest.approx(plain.rewards)
    assert with_it.rewards[5] == 0.0


def test_unanimous_questions_can_be_given_no_weight():
    rollouts = [r for r in random_rollouts(0, 64) if r.answer == "20"][:16]
    default, zero = Core(), Core(zero_unanimous=True)
    unanimous = formed(default, rollouts)
    assert question_advantage(default(unanimous), 16).any()
    assert not question_advantage(zero(unanimous), 16).any()
    assert zero(unanimous).pseudo_label == 0
    contested = formed(default, random_rollouts(0, 32))
    assert np.array_equal(zero(contested).rewards, default(contested).rewards)
    assert zero(contested).weight == default(contested).weight > 0


def test_the_papers_readout_falls_with_confidence_inside_a_class_and_the_other_two_rise():
    """At an equilibrium (W x*)_i is constant on the support, so A x* falls where w is large (measured reason for the variants)."""
    rng, correlations = np.random.default_rng(6), {"A": [], "A_selfloop": [], "A_prime": []}
    for _ in range(20):
        features = rng.random((64, 24))
        features /= np.linalg.norm(features, axis=1, keepdims=True)
        c = rng.normal(-0.5, 0.1, 64)
        g = group(["a"] * 64, {"reasoning_similarity": features @ features.T, "mean_logprob": c})
        for matrix, held in correlations.items():
            decision = Core(readout_matrix=matrix)(g)
            held.append(np.corrcoef(decision.rewards, decision.per_rollout["equilibrium"])[0, 1])
    means = {matrix: np.mean(held) for matrix, held in correlations.items()}
    assert means["A"] < -0.5
    assert means["A_selfloop"] > 0.3
    assert means["A_prime"] > 0.3


def test_the_step_record_gets_the_state_of_the_dynamics():
    stats = Core()(SIX).stats
    assert stats["converged"] == 1.0
    assert stats["degenerate"] == 0.0
    assert 1 <= stats["iterations"] <= 200
    assert stats["support"] == 2.0


def test_cisc_gives_the_golden_sums_and_label():
    decision = Cisc()(SIX)
    assert np.bincount(SIX.answer_class, decision.per_rollout["weight"]) == pytest.approx([0.502531, 1.219132, 1.0], abs=5e-7)
    assert decision.rewards.tolist() == [0, 0, 0, 1, 1, 0]


def test_cisc_elects_what_normalised_weights_would():
    rng = np.random.default_rng(8)
    for _ in range(300):
        g = random_group(rng, 20, classes=5)
        c = np.where(g.parsed, g.signals["mean_logprob"], -np.inf)
        softmax = np.exp(c / 0.25) / np.exp(c / 0.25).sum()
        sums = [softmax[g.answer_class == k].sum() for k in range(g.n_classes)]
        assert Cisc()(g).pseudo_label == int(np.argmax(sums))
