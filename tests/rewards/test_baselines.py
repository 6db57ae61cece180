"""Majority, DeepConf, SCRL, EMPO, RENT, INTUITOR, EVOL-RL and the oracle against plain loops written from their definitions."""

from collections import Counter

import numpy as np
import pytest
from groups import group
from pydantic import ValidationError

from ttrlab.rewards import DeepConf, Empo, EvolRl, Intuitor, Majority, Oracle, Rent, Scrl


def random_answers(rng, n=24, kinds=5):
    return [None if k == 0 else str(k) for k in rng.integers(0, kinds + 1, n)]


def test_the_vote_is_counter_most_common_over_parsed_answers():
    rng = np.random.default_rng(0)
    for _ in range(300):
        answers = random_answers(rng, int(rng.integers(1, 20)))
        top = Counter(a for a in answers if a is not None).most_common(1)
        expected = [float(bool(top) and a == top[0][0]) for a in answers]
        assert Majority()(group(answers)).rewards.tolist() == expected


def test_no_answer_never_wins_the_vote():
    assert Majority()(group([None, None, None, "a"])).rewards.tolist() == [0, 0, 0, 1]


def test_the_oracle_rewards_correct_answers_and_counts_the_undecided():
    decision = Oracle()(group(["a", "b", None, "c"], {"correct": np.array([0, 1, 1, -1], np.int8)}))
    assert decision.rewards.tolist() == [0, 1, 0, 0]
    assert decision.stats["undecided"] == 1.0
    assert decision.pseudo_label == 1
    assert Oracle()(group(["a"], {"correct": np.array([0], np.int8)})).pseudo_label is None


def plain_deepconf(answers, confidence, keep):
    parsed = [i for i, a in enumerate(answers) if a is not None]
    threshold = np.percentile([confidence[i] for i in parsed], 100 * (1 - keep))
    scores = Counter()
    for i in parsed:
        if confidence[i] >= threshold:
            scores[answers[i]] += confidence[i]
    return max(scores, key=scores.__getitem__)


@pytest.mark.parametrize("keep", [1.0, 0.9, 0.1])
def test_deepconf_weighs_and_filters_by_confidence(keep):
    rng = np.random.default_rng(1)
    for _ in range(200):
        answers, confidence = [*random_answers(rng), "1"], rng.uniform(8, 14, 25)
        decision = DeepConf(keep=keep)(group(answers, {"trace_confidence": confidence}))
        label = plain_deepconf(answers, confidence, keep)
        assert decision.rewards.tolist() == [float(a == label) for a in answers]


def test_deepconf_can_count_the_kept_and_reward_what_it_filtered():
    held = {"trace_confidence": np.array([9.0, 1, 1, 8])}
    decision = DeepConf(keep=0.5, weighted=False)(group(["a", "a", "b", "a"], held))
    assert decision.stats["kept"] == 2.0
    assert decision.rewards.tolist() == [1, 1, 0, 1]


def plain_scrl(answers, entropy, mode, tau_pos=0.375, tau_margin=0.125, tau_neg=0.125, lam=0.1):
    n, overall = len(answers), np.mean(entropy)
    ranked = Counter(a for a in answers if a is not None).most_common()
    mean = {a: np.mean([entropy[i] for i in range(n) if answers[i] == a]) for a, _ in ranked}
    positive = None
    if ranked and ranked[0][1] / n >= tau_pos and (len(ranked) == 1 or (ranked[0][1] - ranked[1][1]) / n > tau_margin):
        positive = ranked[0][0]
    rewards = []
    for a in answers:
        share = sum(b == a for b in answers) / n
        if a is None:
            rewards.append(-1.0)
            continue
        negative = a != positive and share < tau_neg and mean[a] >= overall
        if mode == "binary":
            rewards.append(1.0 if a == positive else -1.0 if negative else 0.0)
        else:
            base = share if a == positive else share - tau_neg if negative else 0.0
            rewards.append(base - lam * (mean[a] - overall))
    return positive, rewards


@pytest.mark.parametrize("mode", ["binary", "continuous"])
def test_scrl_rewards_clear_consensus_and_punishes_rare_uncertain_answers(mode):
    rng, labelled = np.random.default_rng(2), 0
    for _ in range(300):
        answers = [*random_answers(rng, 20, kinds=9)[: int(rng.integers(1, 20))], *["1"] * int(rng.integers(0, 14)), "2"]
        entropy = rng.exponential(0.5, len(answers))
        decision = Scrl(reward=mode)(group(answers, {"entropy": entropy}))
        label, rewards = plain_scrl(answers, entropy, mode)
        assert decision.rewards == pytest.approx(rewards, abs=1e-12)
        assert (decision.pseudo_label is None) == (label is None)
        labelled += label is not None
    assert 50 < labelled < 300


def test_empo_rewards_each_answers_share():
    g = group(["a", "a", "b", None])
    assert Empo()(g).rewards.tolist() == [0.5, 0.5, 0.25, 0]
    assert Empo(band=(0.6, 1))(g).abstained
    assert not Empo(band=(0.3, 0.9))(g).abstained
    with pytest.raises(ValidationError, match=r"band must be \[low, high\]"):
        Empo(band=(0.9, 0.3))


def test_rent_rewards_certainty_and_fines_a_missing_answer():
    decision = Rent()(group(["a", None, "b"], {"entropy": np.array([0.3, 0.1, 0.7])}))
    assert decision.rewards.tolist() == [-0.3, -7.0, -0.7]
    assert decision.pseudo_label is None


def test_intuitor_rewards_self_certainty_whatever_the_answer():
    assert Intuitor()(group(["a", None], {"self_certainty": np.array([1.5, 2.5])})).rewards.tolist() == [1.5, 2.5]


def plain_evol(answers, cosine):
    valid = [i for i, a in enumerate(answers) if a is not None and any(ch.isdigit() for ch in a)]
    majority = Counter(answers[i] for i in valid).most_common(1)[0][0]
    sides = [[i for i in valid if answers[i] == majority], [i for i in valid if answers[i] != majority]]
    rewards, cosine = np.full(len(answers), -1.0), np.clip(cosine, 0, 1)
    for base, side in zip((0.5, -1.0), sides, strict=True):
        u = {}
        for i in side:
            same = [cosine[i, j] for j in side if j != i] or [cosine[i, j] for j in valid if j != i] or [0.0]
            others = [cosine[i, j] for j in valid if j != i] or [0.0]
            u[i] = 1 - 0.5 * np.mean(same) - 0.5 * max(others)
        low, high = min(u.values(), default=0), max(u.values(), default=0)
        for i, value in u.items():
            novelty = 1.0 if len(side) == 1 else 0.5 if high - low < 1e-12 else (value - low) / (high - low)
            rewards[i] = base + 0.5 * novelty
    return rewards


def test_evol_rl_rewards_the_majority_and_novelty_on_each_side():
    rng = np.random.default_rng(3)
    for _ in range(150):
        answers = [*random_answers(rng, int(rng.integers(2, 16)), 3), "1", "x"]
        features = rng.normal(0.3, 1, (len(answers), 5))
        features /= np.linalg.norm(features, axis=1, keepdims=True)
        cosine = features @ features.T
        assert EvolRl()(group(answers, {"reasoning_similarity": cosine})).rewards == pytest.approx(plain_evol(answers, cosine), abs=1e-12)


@pytest.mark.parametrize(
    "answers, rewards",
    [
        (["1", "1", "2", "2", "1"], [0.75, 0.75, -0.75, -0.75, 0.75]),
        (["1", "1", "2"], [0.75, 0.75, -0.5]),
        (["1", "x", None], [1.0, -1, -1]),
    ],
)
def test_evol_rl_equal_ones_are_in_the_middle_and_one_alone_is_novel(answers, rewards):
    same = {"reasoning_similarity": np.ones((len(answers), len(answers)))}
    assert EvolRl()(group(answers, same)).rewards.tolist() == rewards


def test_evol_rl_takes_symbolic_answers_if_asked():
    held = {"reasoning_similarity": np.ones((3, 3))}
    assert EvolRl()(group(["x", "x", "y"], held)).abstained
    assert EvolRl(valid="boxed")(group(["x", "x", "y"], held)).rewards.tolist() == [0.75, 0.75, -0.5]
