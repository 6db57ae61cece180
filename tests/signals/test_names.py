"""Signals are asked for by name; what an engine must provide follows from the names."""

import numpy as np
import pytest

from ttrlab import signals
from ttrlab.rewards import EvolRl
from ttrlab.signals import STORED
from ttrlab.types import Rollout

FULL = Rollout(
    "a b c\n\nd",
    (1, 2, 3),
    logprobs=np.array([-1, -2, -3], np.float32),
    token_stats={name: np.array([1, 2, 3], np.float32) for name in ("topk_confidence", "entropy", "self_certainty")},
    step_ends=(2, 3),
)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(signals.UnknownSignal, match=r"'magic'; known are .*'mean_logprob'"):
        signals.compute(["magic"], [FULL])
    with pytest.raises(signals.UnknownSignal, match="magic"):
        signals.required_stats(["magic"])


@pytest.mark.parametrize(
    "name, message",
    [
        ("bottom_confidence:width=3", r"no parameter 'width'; bottom_confidence takes \['share', 'window'\]"),
        ("bottom_confidence:window=wide", "window must be int, got 'wide'"),
        ("mean_logprob:x=1", "no parameter 'x'"),
    ],
)
def test_a_wrong_parameter_is_named(name, message):
    with pytest.raises(ValueError, match=message):
        signals.compute([name], [FULL])


def test_requirements_are_what_the_signals_read():
    assert signals.required_stats(["mean_logprob", "reasoning_similarity"]) == {"logprobs"}
    assert signals.required_stats(["bottom_confidence:window=9", "entropy"]) == {"topk_confidence", "entropy"}
    assert signals.required_stats(signals.SUPPLIED) == frozenset()


def test_supplied_signals_are_left_to_the_caller():
    assert signals.compute(["judge_score", "correct", "mean_logprob"], [FULL]).keys() == {"mean_logprob"}


def test_a_pool_keeps_every_number_that_the_rollouts_allow():
    assert signals.per_rollout_signals([FULL]).keys() == set(STORED)
    assert all(values.shape == (1,) for values in signals.per_rollout_signals([FULL]).values())


def test_what_one_rollout_lacks_is_kept_for_none():
    bare = Rollout("x", (1,), logprobs=np.array([-1], np.float32), step_ends=(1,))
    assert signals.per_rollout_signals([FULL, bare]).keys() == {"mean_logprob", "sequence_probability", "step_surprisal"}
    unmarked = Rollout("x", (1,), logprobs=np.array([-1], np.float32))
    assert signals.per_rollout_signals([FULL, unmarked]).keys() == {"mean_logprob", "sequence_probability"}
    assert signals.per_rollout_signals([Rollout("x")]) == {}


def test_a_callback_gives_another_similarity_by_name():
    callback = {"embedding_similarity": signals.embedding_similarity(lambda texts: np.array([[len(t), 1.0] for t in texts]))}
    rollouts = [Rollout("a"), Rollout("bb"), Rollout("cc")]
    cosine = signals.compute(EvolRl(similarity="embedding_similarity").needs, rollouts, callback)["embedding_similarity"]
    assert cosine[1, 2] == pytest.approx(1.0)
    assert cosine[0, 1] == pytest.approx(3 / np.sqrt(2 * 5))
    with pytest.raises(signals.UnknownSignal, match="embedding_similarity"):
        signals.required_stats(EvolRl(similarity="embedding_similarity").needs)


@pytest.mark.parametrize("rows", [np.ones((2, 3)), np.ones(3), np.full((3, 2), np.nan)])
def test_a_callback_that_returns_something_else_is_refused(rows):
    signal = signals.embedding_similarity(lambda texts: rows)
    with pytest.raises(ValueError, match=r"embed must return \(3, d\) finite numbers"):
        signal.function([Rollout("a")] * 3)


def test_intuitors_number_is_divergence_from_uniform_plus_a_constant():
    z = np.array([2, 0, -1, 0.5])
    code_value = np.log(np.exp(z).sum()) - z.mean()
    rollout = Rollout("x", (1,), token_stats={"self_certainty": np.array([code_value], np.float32)})
    assert code_value == pytest.approx(1.967350, abs=5e-7)
    assert code_value - np.log(4) == pytest.approx(0.581055, abs=5e-7)
    assert signals.compute(["self_certainty"], [rollout])["self_certainty"][0] == pytest.approx(1.967350, abs=5e-7)


def test_entropy_is_the_mean_over_tokens_in_nats():
    assert signals.compute(["entropy"], [FULL])["entropy"].tolist() == [2.0]
