import numpy as np
import pytest

from tests.adapt.fakes import FakePolicy
from ttrlab.adapt.decide import decide, form_group
from ttrlab.adapt.loop import adapt
from ttrlab.adapt.record import decision_row, pool_row, step_record
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.settings import Sampling, Training
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines.base import TOKEN_STATS
from ttrlab.rewards import Majority, Oracle
from ttrlab.types import Question, Rollout

QUESTIONS = tuple(Question(f"q{i}", f"{i}+{i}=") for i in range(5))
STATS = frozenset(TOKEN_STATS)


def spec(rule=None, **training):
    return AdaptSpec(
        model="m", benchmark="b", method="x", seed=3, kind="integer", rows=5, engine="torch", prompt=PromptStyle(), revision=None,
        rule=rule or Majority(), sampling=Sampling(),
        training=Training.model_validate({"votes": 8, "train": 6, "batch": 2, "episodes": 2, **training}),
    )  # fmt: skip


def test_a_step_trains_the_first_rollouts_of_a_vote_over_all_of_them():
    policy = FakePolicy()
    steps = list(adapt(spec(), QUESTIONS, policy, STATS))
    assert [step.number for step in steps] == list(range(1, 7))
    for step, seen in zip(steps, policy.seen, strict=True):
        for group, decision, advantage, (question, trained, given) in zip(step.groups, step.decisions, step.advantages, seen, strict=True):
            assert (group.n, trained, question) == (8, 6, group.question.id)
            assert given == advantage.tolist()
            assert decision.pseudo_label is None or (group.answer_class == decision.pseudo_label).sum() == group.counts.max()


def test_the_steps_after_a_resume_are_those_of_the_whole_run():
    whole = list(adapt(spec(), QUESTIONS, FakePolicy(), STATS))
    rest = list(adapt(spec(), QUESTIONS, FakePolicy(updates=3), STATS, done=3))
    assert [step_record(step) for step in whole[3:]] == [step_record(step) for step in rest]


def test_records_are_json_numbers_and_rows_are_aligned():
    (step, *_) = adapt(spec(), QUESTIONS, FakePolicy(), STATS)
    record = step_record(step)
    assert record["rollouts"] == 16
    assert 0 <= record["unparsed_share"] < 1
    assert record["engine/grad_norm"] == 0.5
    for group, decision in zip(step.groups, step.decisions, strict=True):
        pool, made = pool_row(group, 1), decision_row(group, decision, 1)
        assert pool.question_id == made["question_id"]
        assert len(pool.texts) == len(made["rewards"]) == 8
        assert {"mean_logprob", "trace_confidence", "step_confidence", "entropy", "self_certainty"} <= set(pool.signals)


def test_the_oracle_without_gold_is_refused_by_question():
    with pytest.raises(ValueError, match=r"question 'q\d': the rule asks for gold"):
        next(adapt(spec(Oracle()), QUESTIONS, FakePolicy(), STATS))


def test_no_other_rule_than_the_oracle_ever_calls_the_grader():
    def never(question_id, answers):
        raise AssertionError("gold was read")

    assert len(list(adapt(spec(), QUESTIONS, FakePolicy(), STATS, grade=never))) == 6


def test_the_oracle_is_paid_by_gold_and_not_by_the_vote():
    group = form_group(
        QUESTIONS[0],
        [Rollout(text=text) for text in ("\\boxed{1}", "\\boxed{1}", "\\boxed{2}", "nothing")],
        "integer",
        ("correct",),
        0,
        lambda question_id, answers: np.array([answer == "2" for answer in answers], dtype=np.int8),
    )
    _, (decision,) = decide(Oracle(), [group])
    assert decision.rewards.tolist() == [0, 0, 1, 0]
    assert decision.pseudo_label == 1
