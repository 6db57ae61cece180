import math

import pytest
import torch

from ttrlab.config.settings import Training
from ttrlab.engines.loss import kl_loss, learning_rate, policy_loss, token_weights

TRAINING = Training(votes=4, train=4, clip_low=0.2, clip_high=0.3, dual_clip=3.0)


def one(ratio, advantage, training=TRAINING):
    loss, clipped = policy_loss(torch.tensor([[math.log(ratio)]]), torch.zeros(1, 1), torch.tensor([[advantage]]), training)
    return round(float(loss), 5), float(clipped)


@pytest.mark.parametrize(
    "ratio, advantage, loss, clipped",
    [
        (1.0, 2.0, -2.0, 0),  # on policy: -A
        (1.1, 2.0, -2.2, 0),  # inside: -A rho
        (1.5, 2.0, -2.6, 1),  # above for A > 0: clipped at 1 + high
        (0.5, 2.0, -1.0, 0),  # below for A > 0: the pessimistic side is rho itself
        (1.5, -2.0, 3.0, 0),  # above for A < 0: not clipped
        (0.5, -2.0, 1.6, 1),  # below for A < 0: clipped at 1 - low
        (5.0, -2.0, 6.0, 0),  # far above for A < 0: dual clip at c |A|
        (2.9, -2.0, 5.8, 0),  # just inside the dual clip
    ],
)
def test_policy_loss_on_both_sides_of_both_clips(ratio, advantage, loss, clipped):
    assert one(ratio, advantage) == (loss, clipped)


def test_without_dual_clip_a_punished_token_has_no_bound_but_the_log_ratio_has():
    assert one(5.0, -2.0, TRAINING.model_copy(update={"dual_clip": None}))[0] == 10.0
    far, _ = policy_loss(
        torch.tensor([[100.0]]), torch.zeros(1, 1), torch.tensor([[-1.0]]), TRAINING.model_copy(update={"dual_clip": None})
    )
    assert float(far) == pytest.approx(math.exp(20), rel=1e-5)


def test_scaling_the_advantage_scales_the_loss_so_a_question_weight_is_exact():
    logprob = torch.linspace(-2, 2, 41)[:, None]
    for advantage in (1.3, -1.3):
        whole, _ = policy_loss(logprob, torch.zeros(41, 1), torch.full((41, 1), advantage), TRAINING)
        gated, _ = policy_loss(logprob, torch.zeros(41, 1), torch.full((41, 1), 0.25 * advantage), TRAINING)
        torch.testing.assert_close(gated, 0.25 * whole)


@pytest.mark.parametrize("estimator, value", [("k1", 0.5), ("k2", 0.125), ("k3", math.exp(-0.5) - 1 + 0.5)])
def test_kl_estimators(estimator, value):
    assert float(kl_loss(torch.tensor(-1.0), torch.tensor(-1.5), estimator)) == pytest.approx(value, rel=1e-6)


def test_k3_is_bounded_as_in_verl():
    assert float(kl_loss(torch.tensor(-100.0), torch.tensor(0.0), "k3")) == 10.0


def test_the_gradient_of_k1_as_a_loss_ignores_the_reference():
    logprob = torch.tensor(-1.0, requires_grad=True)
    kl_loss(logprob, torch.tensor(-5.0), "k1").backward()
    assert float(logprob.grad) == 1.0


@pytest.mark.parametrize(
    "aggregation, expected",
    [
        ("token-mean", [[0.25, 0.25, 0.25], [0.25, 0, 0]]),
        ("seq-mean-token-mean", [[1 / 6, 1 / 6, 1 / 6], [0.5, 0, 0]]),
        ("seq-mean-token-sum", [[0.5, 0.5, 0.5], [0.5, 0, 0]]),
        ("seq-mean-token-sum-norm", [[1 / 3, 1 / 3, 1 / 3], [1 / 3, 0, 0]]),
    ],
)
def test_aggregations_as_token_weights(aggregation, expected):
    mask = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    torch.testing.assert_close(token_weights(mask, aggregation, 3), torch.tensor(expected, dtype=torch.float32))


def test_the_schedule_warms_up_and_ends_at_nothing():
    training = Training(votes=4, train=4, learning_rate=1.0, warmup_steps=2)
    rates = [learning_rate(update, 10, training) for update in range(10)]
    assert rates[:3] == [0.5, 1.0, 1.0]
    assert rates[6] == pytest.approx(0.5)
    assert 0 < rates[-1] < 0.1
    assert learning_rate(7, 10, training.model_copy(update={"schedule": "constant"})) == 1.0
