"""What every reward rule promises. A rule is tested here by being in the union, a variant by being in config/methods."""

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import yaml
from groups import formed, random_rollouts, rollout
from pydantic import TypeAdapter, ValidationError

from ttrlab import pools, signals
from ttrlab.adapt.record import pool_row
from ttrlab.advantage import question_advantage
from ttrlab.rewards import RewardRule
from ttrlab.types import Question, RewardDecision, Rollout, RolloutGroup

ADAPTER = TypeAdapter(RewardRule)
METHODS = Path(__file__).parents[2] / "config" / "methods"
ENTRIES = [pair for path in sorted(METHODS.glob("*.yaml")) for pair in yaml.safe_load(path.read_text()).items()]
SHIPPED = {name: entry["reward"] for name, entry in ENTRIES if "reward" in entry}
DEFAULTS = {name: {"rule": name} for name in (rule.model_fields["rule"].default for rule in get_args(get_args(RewardRule)[0]))}
RULES = {name: ADAPTER.validate_python(value) for name, value in {**SHIPPED, **DEFAULTS}.items()}

BY_SAMPLING_ORDER = {"scope", "scope_released", "truer"}
"""Rules whose definition reads the order of the roll-outs: subgroups are blocks, a representative is the first."""
WITHOUT_ANSWERS = {"rent", "intuitor"}
"""Rules that reward a response whatever the others answer."""

every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
ORDER_FREE = {name: rule for name, rule in RULES.items() if rule.rule not in BY_SAMPLING_ORDER}


def decide(rule, rollouts, seed=0):
    """A decision on 64 roll-outs, or as many as the rule's subgroups allow."""
    return rule(formed(rule, rollouts, seed))


def same(a: RewardDecision, b: RewardDecision):
    return np.array_equal(a.rewards, b.rewards) and (a.pseudo_label, a.weight, a.abstained) == (b.pseudo_label, b.weight, b.abstained)


@every_rule
def test_the_rule_survives_json_and_refuses_unknown_keys(rule):
    assert ADAPTER.validate_json(rule.model_dump_json()) == rule
    with pytest.raises(ValidationError, match="Extra inputs"):
        ADAPTER.validate_python({**rule.model_dump(), "temprature": 1})


@every_rule
def test_the_rule_cannot_be_changed(rule):
    with pytest.raises(ValidationError, match="frozen"):
        rule.rule = "majority"


@every_rule
def test_everything_it_needs_can_be_computed_supplied_or_read_from_a_pool(rule):
    signals.required_stats(rule.needs)
    pairwise = {name for name, signal in signals.SIGNALS.items() if signal.pairwise}
    assert set(rule.needs) <= {*signals.STORED, *signals.SUPPLIED, *pairwise}


@every_rule
@pytest.mark.parametrize("seed", range(5))
def test_rewards_are_aligned_finite_and_repeatable(rule, seed):
    rollouts = random_rollouts(seed, 64)
    decision = decide(rule, rollouts, seed)
    assert decision.rewards.shape == (64,)
    assert same(decision, decide(rule, rollouts, seed))
    assert decision.pseudo_label is None or 0 <= decision.pseudo_label < len({r.answer for r in rollouts} - {None})
    if rule.rule not in WITHOUT_ANSWERS:
        assert (decision.rewards[[r.answer is None for r in rollouts]] <= 0).all()


@pytest.mark.parametrize("rule", ORDER_FREE.values(), ids=ORDER_FREE.keys())
@pytest.mark.parametrize("seed", range(3))
def test_reordering_rollouts_reorders_rewards(rule, seed):
    rollouts = random_rollouts(seed, 64)
    order = np.random.default_rng(seed).permutation(64)
    decision, moved = decide(rule, rollouts), decide(rule, [rollouts[i] for i in order])
    assert moved.rewards == pytest.approx(decision.rewards[order], abs=1e-9)
    assert moved.weight == pytest.approx(decision.weight, abs=1e-9)


@every_rule
def test_identical_rollouts_earn_the_same(rule):
    rng = np.random.default_rng(3)
    kinds = [rollout(rng, answer) for answer in ("20", "15", "20", None)]
    rollouts = [kinds[i] for i in rng.choice(4, 64, p=[0.4, 0.2, 0.3, 0.1])]
    decision = decide(rule, rollouts)
    labels = np.zeros(64) if decision.labels is None else decision.labels
    for kind in kinds:
        for label in np.unique(labels):
            earned = decision.rewards[[r is kind for r in rollouts] & (labels == label)]
            assert earned.size == 0 or np.ptp(earned) < 1e-9


@every_rule
def test_64_identical_rollouts_give_no_contrast(rule):
    decision = decide(rule, [rollout(np.random.default_rng(0), "20")] * 64)
    assert np.ptp(decision.rewards) < 1e-12
    assert not question_advantage(decision, 64).any()


@every_rule
def test_nothing_parsed_gives_no_label_and_only_answer_free_rules_a_contrast(rule):
    rng = np.random.default_rng(0)
    decision = decide(rule, [rollout(rng, None) for _ in range(64)])
    assert decision.pseudo_label is None
    if rule.rule != "intuitor":
        assert not question_advantage(decision, 64).any()


@every_rule
def test_all_distinct_answers_are_decided(rule):
    rng = np.random.default_rng(0)
    decision = decide(rule, [rollout(rng, str(i)) for i in range(64)])
    assert np.isfinite(question_advantage(decision, 64)).all()


@every_rule
def test_one_rollout_is_decided_and_has_no_advantage(rule):
    if rule.rule == "scope" and 1 not in rule.sizes and rule.subgroups:
        with pytest.raises(ValueError, match="none of the subgroup sizes"):
            decide(rule, random_rollouts(0, 1))
        return
    for answer in ("20", None):
        decision = decide(rule, [rollout(np.random.default_rng(0), answer)])
        assert not question_advantage(decision, 1).any()


@every_rule
def test_two_equal_camps_are_decided_in_favour_of_the_first_or_not_at_all(rule):
    rng = np.random.default_rng(0)
    pair = rollout(rng, "20"), rollout(rng, "15")
    twins = [pair[0], Rollout(pair[0].text, pair[0].token_ids, pair[0].logprobs, "15", False, pair[0].token_stats, pair[0].step_ends)]
    decision = decide(rule, twins * 32)
    if rule.scope == "question" and not rule.needs_gold:
        assert decision.pseudo_label in (0, None)


@every_rule
def test_a_number_that_is_not_finite_is_refused_by_name(rule):
    rollouts = random_rollouts(1, 64)
    for name in set(rule.needs) - set(signals.SUPPLIED):
        made = formed(rule, rollouts)
        broken = made.signals[name].copy()
        broken.flat[5] = np.nan
        with pytest.raises(ValueError, match=f"'q1': signal '{name}' is not finite"):
            rule(RolloutGroup(made.question, made.rollouts, made.answer_class, {**made.signals, name: broken}))


@every_rule
def test_a_signal_that_was_not_computed_is_named(rule):
    made = formed(rule, random_rollouts(1, 64))
    for name in set(rule.needs) - {"judge_fits"}:
        without = {key: values for key, values in made.signals.items() if key != name}
        with pytest.raises(KeyError, match=name):
            rule(RolloutGroup(made.question, made.rollouts, made.answer_class, without))


@every_rule
@pytest.mark.parametrize("spread", [1e-12, 50.0, 300.0])
def test_extreme_confidences_are_decided(rule, spread):
    rng = np.random.default_rng(2)
    rollouts = random_rollouts(2, 64)
    extreme = [
        Rollout(
            r.text,
            r.token_ids,
            (-spread * rng.random(12)).astype(np.float32),
            r.answer,
            False,
            {name: (spread * rng.random(12)).astype(np.float32) for name in r.token_stats},
            r.step_ends,
        )
        for r in rollouts
    ]
    assert np.isfinite(question_advantage(decide(rule, extreme), 64)).all()


@every_rule
def test_texts_too_short_for_a_4_gram_are_decided(rule):
    rollouts = [Rollout("x", r.token_ids, r.logprobs, r.answer, False, r.token_stats, r.step_ends) for r in random_rollouts(4, 64)]
    assert np.isfinite(decide(rule, rollouts).rewards).all()


@every_rule
def test_a_step_is_decided_as_its_questions_are_and_in_order(rule):
    groups = [formed(rule, random_rollouts(i, 64), seed=i, name=f"q{i}") for i in range(4)]
    together = rule.decide_all(groups)
    assert all(same(a, b) for a, b in zip(together, rule.decide_all(groups), strict=True))
    if rule.scope == "question":
        assert all(same(a, rule(g)) for a, g in zip(together, groups, strict=True))
    assert rule.decide_all([]) == []


@every_rule
def test_a_stored_pool_gives_bit_equal_rewards(rule):
    """What replay does: the row goes through JSON, (n,) signals come from it, pairwise ones from its texts."""
    made = [formed(rule, random_rollouts(i, 64), seed=i, name=f"q{i}") for i in range(3)]
    decisions = rule.decide_all(made)
    replayed = []
    for g in made:
        row = pools.from_json(json.loads(json.dumps(pools.to_json(pool_row(g, 1)))))
        rollouts = tuple(Rollout(text, answer=answer) for text, answer in zip(row.texts, row.answers, strict=True))
        held = {name: row.signals[name] if name in row.signals else g.signals[name] for name in rule.needs}
        held |= signals.compute([name for name in rule.needs if name == "reasoning_similarity"], rollouts)
        if "judge_fits" in held:
            held["judge_fits"] = held["judge_fits"].astype(bool)
        replayed.append(RolloutGroup(Question(row.question_id, "?"), rollouts, g.answer_class, held, row.seed))
    assert all(same(a, b) for a, b in zip(decisions, rule.decide_all(replayed), strict=True))


def test_the_default_of_every_rule_needs_no_argument():
    assert len(DEFAULTS) == len(get_args(get_args(RewardRule)[0]))


def test_only_the_oracle_asks_for_gold():
    assert {name for name, rule in RULES.items() if rule.needs_gold} == {"oracle"}
