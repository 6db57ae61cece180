"""Confidence signals against hand-made numbers and plain loops; what is missing or NaN is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttrlab import signals
from ttrlab.types import Rollout

FIGURE = np.array([10, 12, 2, 14], dtype=np.float32)


def rollout(values, ends=None, stat="topk_confidence", text="some text"):
    values = np.asarray(values, dtype=np.float32)
    held = {"logprobs": values} if stat == "logprobs" else {"token_stats": {stat: values}}
    return Rollout(text, tuple(range(values.size)), step_ends=ends, **held)


def one(name, *args, **kwargs):
    return float(signals.compute([name], [rollout(*args, **kwargs)])[name][0])


def test_each_step_weighs_the_same_whatever_its_length():
    assert one("step_confidence", FIGURE, (2, 3, 4)) == 9.0
    assert one("trace_confidence", FIGURE) == 9.5


def test_mean_logprob_is_the_mean_in_float64():
    values = np.full(3000, -0.1, dtype=np.float32)
    assert one("mean_logprob", values, stat="logprobs") == float(np.float32(-0.1))


def test_step_surprisal_falls_with_certainty_while_confidence_rises():
    def distribution(sharpness):
        logits = sharpness * np.linspace(1, 0, 50)
        return logits - np.log(np.exp(logits).sum())

    vague, sharp = distribution(1), distribution(20)
    confidence = [-np.sort(p)[::-1][:20].mean() for p in (vague, sharp)]
    surprisal = [one("step_surprisal", [p[0]], (1,), stat="logprobs") for p in (vague, sharp)]
    assert confidence[1] > confidence[0]
    assert surprisal[1] < surprisal[0]


def test_sequence_probability_is_the_geometric_mean_of_token_probabilities():
    assert one("sequence_probability", np.log([0.5, 0.125]), stat="logprobs") == pytest.approx(0.25, rel=1e-6)


@given(st.lists(st.floats(0, 20, width=32), min_size=1, max_size=60), st.integers(1, 20), st.floats(0, 1))
def test_bottom_confidence_equals_a_plain_loop_over_windows(values, window, share):
    c = np.array(values, dtype=np.float32).astype(np.float64)
    means = sorted(c[i : i + window].mean() for i in range(c.size - window + 1))
    expected = np.mean(means[: max(1, int(share * len(means)))]) if means else c.mean()
    assert one(f"bottom_confidence:window={window},share={share}", values) == pytest.approx(expected, abs=1e-9)


def test_the_default_window_is_a_quarter_of_the_response_within_16_and_2048():
    values = np.concatenate([np.full(100, 5.0), np.full(28, 1.0), np.full(272, 5.0)])
    assert one("bottom_confidence", values) == one("bottom_confidence:window=100", values)
    assert one("bottom_confidence", values[:40]) == one("bottom_confidence:window=16", values[:40])


@pytest.mark.parametrize("name, last", [("tail_confidence", 2), ("tail_confidence:tokens=5", 5), ("tail_confidence:tokens=99", 20)])
def test_tail_confidence_takes_the_last_tokens(name, last):
    values = np.arange(20) / 2
    assert one(name, values) == pytest.approx(values[-last:].mean())


@pytest.mark.parametrize(
    "name, given_rollouts, message",
    [
        ("mean_logprob", [rollout([1.0])], "roll-out 0 .* has no logprobs; it has"),
        ("trace_confidence", [rollout([1.0]), rollout([1.0], stat="logprobs")], "roll-out 1 .* has no topk_confidence"),
        ("mean_logprob", [rollout([-1], stat="logprobs"), rollout([-1, np.nan], stat="logprobs")], "roll-out 1 .* of token 1 is nan"),
        ("mean_logprob", [rollout([-np.inf], stat="logprobs")], "token 0 is -inf"),
        ("mean_logprob", [Rollout("", logprobs=np.zeros(0, np.float32))], "roll-out 0 .* has no tokens"),
        ("step_confidence", [rollout([1.0])], "roll-out 0 has no step_ends"),
    ],
)
def test_what_is_missing_or_not_finite_is_named(name, given_rollouts, message):
    with pytest.raises(ValueError, match=message):
        signals.compute([name], given_rollouts)
