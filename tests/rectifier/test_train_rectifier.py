import numpy as np
import pytest
from judging import ScriptedPolicy

from ttrlab.config.judge import JudgeLimits, RectifierTraining
from ttrlab.rectifier.judgement import UNRESOLVED
from ttrlab.rectifier.prompt import JudgeItem, JudgePrompt
from ttrlab.rectifier.source import CATEGORIES, Candidate
from ttrlab.rectifier.train import RectifierRun, candidate_rows, step_record, train_rectifier

PROMPT = JudgePrompt("t", "{{problem}}|{{solution}}|{{answer}}")
WEIGHTS = dict(zip(CATEGORIES, (0.5, 2.0, 3.0, 0.7), strict=True))
SIZES = (8, 16, 32)
GOOD, BAD, MALFORMED = '{"reason": "r", "score": 9}', '{"reason": "r", "score": 1}', "no"


def candidate(i, category="majority_correct"):
    return Candidate(f"q{i}", i, JudgeItem(f"question {i}", "solution", "1"), category.endswith("correct"), category)


def run_of(candidates, targets=None, **config):
    settings = {"updates": 2, "training": {"batch": len(candidates)}, **config}
    return RectifierRun(RectifierTraining(**settings), candidates, WEIGHTS, PROMPT, JudgeLimits(), seed=7, targets=targets)


def by_question(outputs):
    """A script that answers by the question in the prompt, alternating where two outputs are given."""
    return lambda prompt, seed, i: outputs[prompt.split("|")[0]][i % len(outputs[prompt.split("|")[0]])]


def test_a_step_samples_eight_judgements_a_candidate_and_updates_once():
    policy = ScriptedPolicy(by_question({"question 0": [GOOD, BAD], "question 1": [BAD, GOOD]}))
    (first, second) = train_rectifier(run_of([candidate(0), candidate(1, "minority_wrong")]), policy)
    assert [(n, q) for q, n, _, _ in policy.calls] == [(8, 2), (8, 2)]
    assert policy.calls[0][2].temperature == 1.0
    assert (first.number, second.number) == (1, 2)
    ((groups, temperature), _) = policy.updates
    assert temperature == 1.0
    assert [len(group.rollouts) for group in groups] == [8, 8]
    assert {group.question.id for group in groups} == {"q0#0", "q1#1"}


def test_advantages_carry_the_category_weight_and_the_right_sign():
    policy = ScriptedPolicy(by_question({"question 0": [GOOD, BAD], "question 1": [GOOD, BAD]}))
    step = next(train_rectifier(run_of([candidate(0), candidate(1, "majority_wrong")]), policy))
    by_id = {group.candidate.question_id: group for group in step.groups}
    assert by_id["q0"].advantages[0] > 0 > by_id["q0"].advantages[1]
    assert by_id["q1"].advantages[0] < 0 < by_id["q1"].advantages[1]
    assert np.abs(by_id["q1"].advantages / by_id["q0"].advantages) == pytest.approx(np.full(8, 2.0 / 0.5))


def test_flat_groups_that_failed_are_expanded_together_and_successful_ones_are_not():
    policy = ScriptedPolicy(by_question({"question 0": [GOOD], "question 1": [MALFORMED], "question 2": [BAD]}))
    step = next(train_rectifier(run_of([candidate(0), candidate(1), candidate(2)]), policy))
    assert [(questions, n) for questions, n, _, _ in policy.calls] == [(3, 8), (2, 8), (2, 16)]
    assert {g.candidate.question_id: len(g.rollouts) for g in step.groups} == {"q0": 8, "q1": 32, "q2": 32}
    assert not any(group.advantages.any() for group in step.groups)
    assert all(j.score == UNRESOLVED for g in step.groups if g.candidate.question_id == "q1" for j in g.judgements)


def test_expansion_stops_as_soon_as_rewards_differ():
    policy = ScriptedPolicy(lambda prompt, seed, i: BAD if len(policy.calls) == 1 else GOOD)
    step = next(train_rectifier(run_of([candidate(0)]), policy))
    assert [n for _, n, _, _ in policy.calls] == [8, 8]
    assert step.groups[0].rewards.tolist() == pytest.approx([-0.62] * 8 + [0.98] * 8)


def test_every_draw_has_a_stream_of_its_own():
    policy = ScriptedPolicy(lambda prompt, seed, i: BAD)
    list(train_rectifier(run_of([candidate(0), candidate(1)]), policy))
    seeds = [seed for call in policy.calls for seed in call[3]]
    assert len(set(seeds)) == len(seeds) == 12


def test_a_resumed_training_goes_on_as_if_it_had_not_stopped():
    run = run_of([candidate(i) for i in range(5)], training={"batch": 2}, updates=4)
    policies = [ScriptedPolicy(lambda prompt, seed, i: GOOD if (seed + i) % 3 else BAD) for _ in range(2)]
    whole = list(train_rectifier(run, policies[0]))
    rest = list(train_rectifier(run, policies[1], done=2))
    assert [step_record(step, SIZES) for step in rest] == [step_record(step, SIZES) for step in whole[2:]]


def test_candidates_come_once_each_before_any_comes_twice():
    rows = [row for number in range(1, 8) for row in candidate_rows(7, 3, 0, "n", number)]
    assert [sorted(rows[at : at + 7]) for at in (0, 7, 14)] == [list(range(7))] * 3
    assert rows[:7] != rows[7:14]
    assert candidate_rows(2, 5, 0, "n", 1)[:2] != candidate_rows(2, 5, 0, "n", 1)[3:]
    with pytest.raises(ValueError, match="no candidates"):
        candidate_rows(0, 3, 0, "n", 1)


def test_the_warm_start_is_supervised_and_comes_first():
    candidates = [candidate(0), candidate(1)]
    run = run_of(candidates, targets=["t0", "t1"], warm_start_updates=2, warm_start_batch=2, warm_start_rate=1e-3, updates=1)
    policy = ScriptedPolicy(lambda prompt, seed, i: GOOD)
    steps = list(train_rectifier(run, policy))
    assert [step_record(step, SIZES)["phase"] for step in steps] == ["warm_start", "warm_start", "reinforce"]
    assert len(policy.updates) == 1
    for prompts, targets, rate in policy.supervised:
        assert rate == 1e-3
        assert sorted(zip(prompts, targets, strict=True)) == [("question 0|solution|1", "t0"), ("question 1|solution|1", "t1")]


def test_a_warm_start_without_written_judgements_is_refused():
    with pytest.raises(ValueError, match="one written judgement a candidate: 1 candidates, none given"):
        run_of([candidate(0)], warm_start_updates=1)


def test_the_record_counts_judgements_errors_and_successes_by_category():
    outputs = {"question 0": [GOOD, BAD], "question 1": [GOOD, MALFORMED], "question 2": [MALFORMED]}
    policy = ScriptedPolicy(by_question(outputs))
    run = run_of([candidate(0), candidate(1, "majority_wrong"), candidate(2, "minority_wrong")])
    record = step_record(next(train_rectifier(run, policy)), SIZES)
    assert (record["candidates"], record["judgements"], record["tokens"]) == (3, 48, 144)
    assert {size: record[f"groups_of/{size}"] for size in SIZES} == {8: 2, 16: 0, 32: 1}
    assert record["active_share"] == pytest.approx(2 / 3)
    assert record["invalid_share"] == pytest.approx(36 / 48)
    assert record["successful_share"] == pytest.approx(4 / 48)
    assert (record["wrong_accepted"], record["correct_withheld"]) == (pytest.approx(4 / 40), 0.5)
    assert record["successful/majority_correct"] == 0.5
    assert record["successful/minority_correct"] is None
    assert record["engine/policy_loss"] == 0.5
