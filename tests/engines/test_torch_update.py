import copy

import numpy as np
import pytest
import torch

from tests.engines.tiny import KINDS, PLAIN, QUESTIONS, SAMPLING, STATS, groups_of, policy, save_model, training, weights
from ttrlab.engines.base import TrainingGroup
from ttrlab.engines.loss import learning_rate
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.engines.torch_score import response_logprobs, sequences_of


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_makes_rewarded_rollouts_likelier_and_punished_ones_less_likely(tmp_path, kind):
    engine = policy(save_model(tmp_path, kind))
    groups = groups_of(engine)
    batch = sequences_of(groups, engine.prompter)
    mask = batch.weights("seq-mean-token-sum") > 0
    before = (response_logprobs(engine.model, batch, 1.0) * mask).sum(1).detach()
    engine.update(groups, 1.0)
    after = (response_logprobs(engine.model, batch, 1.0) * mask).sum(1).detach()
    assert float(((after - before) * batch.advantages).sum()) > 0


@pytest.mark.parametrize("aggregation", ["token-mean", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm"])
@pytest.mark.parametrize("kl", [0.0, 0.5])
def test_micro_batches_give_the_same_gradient(tmp_path, aggregation, kl):
    folder = save_model(tmp_path, initializer_range=0.1)  # well conditioned, so that rounding stays below what is tested
    gradients = []
    for micro in (1, 5, 64):
        engine = policy(folder, micro_batch=micro, aggregation=aggregation, kl_coefficient=kl, grad_clip=1e9)
        groups = groups_of(engine)
        for parameter in engine.parameters:
            parameter.data += 0.01  # away from the reference, so that the KL term has a gradient
        engine.update(groups, 1.0)
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in engine.parameters]))
    norm = float(gradients[0].norm())
    assert norm > 1e-3
    for other in gradients[1:]:
        assert float((other - gradients[0]).norm()) / norm < 1e-6


def test_without_advantage_and_kl_nothing_moves_but_the_schedule_does(tmp_path):
    engine = policy(save_model(tmp_path))
    groups = [TrainingGroup(g.question, g.rollouts, np.zeros(4)) for g in groups_of(engine)]
    before = weights(engine)
    numbers = engine.update(groups, 1.0)
    assert torch.equal(before, weights(engine))
    assert numbers["grad_norm"] == 0
    assert engine.done == 1


def test_with_the_kl_term_an_abstaining_question_still_pulls_towards_the_reference(tmp_path):
    engine = policy(save_model(tmp_path), kl_coefficient=0.1)
    groups = [TrainingGroup(g.question, g.rollouts, np.zeros(4)) for g in groups_of(engine)]
    for parameter in engine.parameters:
        parameter.data += 0.02
    numbers = engine.update(groups, 1.0)
    assert numbers["kl"] > 0
    assert numbers["grad_norm"] > 0


def test_one_update_a_batch_is_on_policy_and_several_are_clipped_against_the_sampling_policy(tmp_path):
    folder = save_model(tmp_path)
    assert policy(folder, learning_rate=0.1).update(groups_of(policy(folder)), 1.0)["clip_fraction"] == 0
    several = policy(folder, learning_rate=0.1, epochs=4, mini_batch=1, batch=3)
    numbers = several.update(groups_of(several), 1.0)
    assert numbers["updates"] == 12
    assert numbers["clip_fraction"] > 0


def test_training_logprobs_are_those_of_the_sampling_temperature(tmp_path):
    engine = policy(save_model(tmp_path))
    batch = sequences_of(groups_of(engine), engine.prompter)
    with torch.no_grad():
        cool, plain = response_logprobs(engine.model, batch, 0.5), response_logprobs(engine.model, batch, 1.0)
    assert not torch.allclose(cool, plain)


def test_training_with_a_sampler_is_refused(tmp_path):
    engine = policy(save_model(tmp_path))
    with pytest.raises(RuntimeError, match="sampling only"):
        TorchPolicy(str(tmp_path), None, PLAIN, "integer").update(groups_of(engine), 1.0)


def test_rollouts_sampled_greedily_cannot_be_trained_on(tmp_path):
    engine = policy(save_model(tmp_path))
    with pytest.raises(ValueError, match="temperature above 0, got 0"):
        engine.update(groups_of(engine), 0.0)


def test_kl_is_reported_only_where_it_is_measured(tmp_path):
    folder = save_model(tmp_path)
    without, with_term = policy(folder), policy(folder, kl_coefficient=0.1)
    assert "kl" not in without.update(groups_of(without), 1.0)
    assert with_term.update(groups_of(with_term), 1.0)["kl"] == 0  # the policy still is the reference


@pytest.mark.parametrize("lora", [None, {"rank": 4, "alpha": 8}])
def test_a_continued_policy_is_held_to_the_model_that_the_first_run_began_with(tmp_path, lora):
    base, adapted = save_model(tmp_path / "base"), save_model(tmp_path / "adapted", seed=1)
    settings = training(kl_coefficient=0.1, lora=lora)
    engine = TorchPolicy(adapted, None, PLAIN, "integer", training=settings, updates=8, reference=(base, None))
    assert engine.update(groups_of(engine), 1.0)["kl"] > 0.1


def test_dropout_of_adapters_is_on_in_the_gradient_pass_alone(tmp_path):
    folder = save_model(tmp_path)
    engine = policy(folder, lora={"rank": 4, "alpha": 64, "dropout": 0.5})
    for parameter in engine.parameters:
        parameter.data += 0.05  # so that the adapters change what the model says
    first, second = groups_of(engine), groups_of(engine)
    assert [r.token_ids for g in first for r in g.rollouts] == [r.token_ids for g in second for r in g.rollouts]
    gradients = []
    for _ in range(2):
        engine.update(first, 1.0)
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in engine.parameters]))
    assert not any(layer.training for name, layer in engine.model.named_modules() if "lora_dropout" in name)
    assert not torch.equal(*gradients)


def by_the_equations(engine, groups, settings, temperature):
    """The parameters after an update, by the plainest code: whole texts one by one, no cache, no micro-batches."""
    model = copy.deepcopy(engine.model)
    reference = copy.deepcopy(engine.reference)
    optimiser = torch.optim.AdamW(model.parameters(), betas=settings.betas, weight_decay=settings.weight_decay)

    def logprobs(network, group, rollout):
        prompt = engine.prompter.tokens(group.question, 32)
        logits = network(input_ids=torch.tensor([[*prompt, *rollout.token_ids]]), use_cache=False).logits[0, len(prompt) - 1 : -1]
        return (logits / temperature).log_softmax(-1)[torch.arange(len(rollout.token_ids)), torch.tensor(rollout.token_ids)]

    with torch.no_grad():
        old = {id(r): logprobs(model, g, r) for g in groups for r in g.rollouts}
    for number, group in enumerate(groups * settings.epochs):
        losses = []
        for rollout, advantage in zip(group.rollouts, group.advantages, strict=True):
            now = logprobs(model, group, rollout)
            ratio = (now - old[id(rollout)]).exp()
            clipped = ratio.clamp(1 - settings.clip_low, 1 + settings.clip_high)
            loss = -torch.minimum(advantage * ratio, advantage * clipped)
            if advantage < 0:
                loss = loss.clamp(max=-settings.dual_clip * advantage)
            x = now - logprobs(reference, group, rollout).detach()
            losses.append(loss + settings.kl_coefficient * ((-x).exp() - 1 + x))
        optimiser.zero_grad()
        torch.cat(losses).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.grad_clip)
        optimiser.param_groups[0]["lr"] = learning_rate(number, 8, settings)
        optimiser.step()
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_epochs_over_mini_batches_with_clips_and_kl_are_the_equations(tmp_path):
    settings = {"epochs": 2, "mini_batch": 1, "micro_batch": 2, "kl_coefficient": 0.2, "learning_rate": 3e-3, "clip_high": 0.3}
    engine = policy(save_model(tmp_path, initializer_range=0.1), **settings)
    groups = groups_of(engine, temperature=0.8)
    before = weights(engine)
    expected = by_the_equations(engine, groups, training(**settings), 0.8)
    numbers = engine.update(groups, 0.8)
    assert numbers["clip_fraction"] > 0
    assert numbers["kl"] > 0
    moved = float((expected - before).norm())
    assert moved > 0.1
    assert float((weights(engine) - expected).norm()) / moved < 1e-3


def test_supervised_updates_teach_the_targets_and_leave_the_schedule(tmp_path):
    engine = policy(save_model(tmp_path), micro_batch=2)
    losses = [engine.supervised_update(QUESTIONS, ["2", "42", "3"], 1e-2)["loss"] for _ in range(30)]
    assert losses[-1] < 0.1 < losses[0]
    assert engine.done == 0
    greedy = engine.sample(QUESTIONS, 1, SAMPLING.model_copy(update={"temperature": 0.0}), [0, 0, 0], STATS)
    assert [group[0].text for group in greedy] == ["2", "42", "3"]
    with pytest.raises(ValueError, match="3 questions, but 1 targets"):
        engine.supervised_update(QUESTIONS, ["2"], 1e-2)
