import dataclasses

import numpy as np
import pytest

from ttrlab.types import NO_ANSWER, Question, RewardDecision, Rollout, RolloutGroup

Q = Question("q", "1+1=")


def group(classes, **signals):
    rollouts = tuple(Rollout(text=str(c)) for c in classes)
    return RolloutGroup(Q, rollouts, np.array(classes, dtype=np.int64), signals)


def test_no_type_that_a_rule_sees_has_a_field_for_gold():
    for kind in (Question, Rollout, RolloutGroup, RewardDecision):
        assert not {field.name for field in dataclasses.fields(kind)} & {"gold", "label", "target", "reference"}


def test_class_ids_must_be_numbered_by_first_appearance():
    with pytest.raises(ValueError, match="first appearance"):
        group([1, 0])


def test_counts_leave_out_rollouts_without_an_answer():
    g = group([0, NO_ANSWER, 1, 0])
    assert g.counts.tolist() == [2, 1]
    assert g.parsed.tolist() == [True, False, True, True]


def test_a_group_where_nothing_parsed_has_no_classes():
    g = group([NO_ANSWER, NO_ANSWER])
    assert g.n_classes == 0
    assert g.counts.tolist() == []


def test_signals_of_the_wrong_shape_are_refused_by_name():
    with pytest.raises(ValueError, match="mean_logprob"):
        group([0, 0], mean_logprob=np.zeros(3))


def test_a_missing_signal_names_what_is_there():
    with pytest.raises(KeyError, match="entropy.*mean_logprob"):
        group([0, 0], mean_logprob=np.zeros(2)).signal("entropy")


def test_nan_is_refused_except_where_it_means_not_asked():
    g = group([0, 0], entropy=np.array([1.0, np.nan]), judge_score=np.array([np.nan, 3.0]))
    with pytest.raises(ValueError, match="entropy.*not finite"):
        g.signal("entropy")
    assert np.isnan(g.signal("judge_score")[0])


def test_logprobs_are_one_per_token():
    with pytest.raises(ValueError, match="one per token"):
        Rollout("x", (1, 2), np.zeros(1, dtype=np.float32))


@pytest.mark.parametrize("rewards", [np.array([np.nan]), np.array([np.inf])])
def test_rewards_must_be_finite(rewards):
    with pytest.raises(ValueError, match="finite"):
        RewardDecision(rewards, None)


def test_an_abstaining_decision_rewards_nothing():
    with pytest.raises(ValueError, match="abstaining"):
        RewardDecision(np.array([1.0]), None, abstained=True)
