import numpy as np
import pytest
import torch

from tests.engines.tiny import KINDS, save_model
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.settings import Lora, Sampling, Training
from ttrlab.engines.base import TOKEN_STATS, TrainingGroup
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.engines.torch_score import response_logprobs, sequences_of
from ttrlab.files import hashes
from ttrlab.types import Question

PLAIN = PromptStyle(template="plain", where="none")
SAMPLING = Sampling(max_new_tokens=12, max_prompt_tokens=32)
QUESTIONS = [Question("a", "1+1="), Question("b", "12+30="), Question("c", "2+1=")]
STATS = frozenset(TOKEN_STATS)


def training(**settings):
    return Training.model_validate({"votes": 4, "train": 4, "batch": 3, "learning_rate": 1e-3, "kl_coefficient": 0.0, **settings})


def policy(folder, **settings):
    return TorchPolicy(folder, None, PLAIN, "integer", training=training(**settings), updates=8)


def groups_of(engine, seed=0, temperature=1.0):
    sampling = SAMPLING.model_copy(update={"temperature": temperature})
    sampled = engine.sample(QUESTIONS, 4, sampling, [seed, seed + 1, seed + 2], STATS)
    advantages = np.array([1.5, -0.5, 0.0, -1.0])
    return [TrainingGroup(q, rollouts, advantages) for q, rollouts in zip(QUESTIONS, sampled, strict=True)]


def weights(engine):
    return torch.cat([parameter.detach().flatten() for parameter in engine.model.parameters()])


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_logprobs_are_those_of_a_forward_pass_over_the_whole_text(tmp_path, kind):
    engine = policy(save_model(tmp_path, kind))
    groups = groups_of(engine)
    batch = sequences_of(groups, engine.prompter)
    with torch.no_grad():
        whole = response_logprobs(engine.model, batch, 1.0)
    for row, rollout in enumerate(r for group in groups for r in group.rollouts):
        np.testing.assert_allclose(rollout.logprobs, whole[row, : len(rollout.token_ids)].numpy(), atol=2e-5)


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


def test_rollouts_end_at_the_stop_token_and_nothing_follows_it(tmp_path):
    engine = policy(save_model(tmp_path))
    rollouts = [r for group in engine.sample(QUESTIONS, 32, SAMPLING, [1, 2, 3], STATS) for r in group]
    assert any(not r.truncated for r in rollouts)
    assert any(r.truncated for r in rollouts)
    for r in rollouts:
        assert 1 not in r.token_ids[:-1]
        assert r.truncated == (r.token_ids[-1] != 1)
        assert r.truncated <= (len(r.token_ids) == SAMPLING.max_new_tokens)
        assert "</s>" not in r.text


def test_a_question_has_the_same_rollouts_whatever_else_is_asked(tmp_path):
    engine = policy(save_model(tmp_path))
    together = engine.sample(QUESTIONS, 8, SAMPLING, [5, 6, 7], STATS)
    alone = engine.sample(QUESTIONS[:1], 8, SAMPLING, [5], STATS)
    assert [r.token_ids for r in together[0]] == [r.token_ids for r in alone[0]]


def test_token_numbers_are_those_of_the_definition(tmp_path):
    engine = policy(save_model(tmp_path))
    ((rollout,),) = engine.sample(QUESTIONS[:1], 1, SAMPLING, [3], STATS)
    ids = torch.tensor([[*engine.prompter.tokens(QUESTIONS[0], 32), *rollout.token_ids]])
    with torch.no_grad():
        logits = engine.model(input_ids=ids).logits[0, -len(rollout.token_ids) - 1 : -1].double()
    logprobs = logits.log_softmax(-1)
    np.testing.assert_allclose(rollout.token_stats["entropy"], -(logprobs.exp() * logprobs).sum(-1), atol=1e-4)
    np.testing.assert_allclose(rollout.token_stats["topk_confidence"], -logprobs.topk(20).values.mean(-1), atol=1e-4)
    np.testing.assert_allclose(rollout.token_stats["self_certainty"], logits.logsumexp(-1) - logits.mean(-1), atol=1e-4)


def test_greedy_is_the_likeliest_token_and_needs_no_seed(tmp_path):
    engine = policy(save_model(tmp_path))
    greedy = SAMPLING.model_copy(update={"temperature": 0.0})
    (first, second), (third, _) = engine.sample([QUESTIONS[0]] * 2, 2, greedy, [1, 2], STATS)
    assert first.token_ids == second.token_ids == third.token_ids


def test_a_prompt_that_is_too_long_is_named(tmp_path):
    engine = policy(save_model(tmp_path))
    with pytest.raises(ValueError, match=r"question 'b'.*max_prompt_tokens is 5"):
        engine.sample(QUESTIONS, 1, SAMPLING.model_copy(update={"max_prompt_tokens": 5}), [1, 2, 3], STATS)


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


@pytest.mark.parametrize("settings", [{}, {"lora": Lora(rank=4, alpha=8).model_dump()}, {"kl_coefficient": 0.01}])
def test_a_resumed_run_ends_with_the_bytes_of_an_uninterrupted_one(tmp_path, settings):
    folder = save_model(tmp_path / "model")
    whole = policy(folder, **settings)
    for step in range(3):
        whole.update(groups_of(whole, seed=10 * step), 1.0)
    whole.save_checkpoint(tmp_path / "whole")
    first = policy(folder, **settings)
    first.update(groups_of(first, seed=0), 1.0)
    (tmp_path / "state").mkdir()
    first.save_state(tmp_path / "state")
    second = policy(folder, **settings)
    second.load_state(tmp_path / "state")
    for step in (1, 2):
        second.update(groups_of(second, seed=10 * step), 1.0)
    second.save_checkpoint(tmp_path / "resumed")
    assert hashes(tmp_path / "whole") == hashes(tmp_path / "resumed")
    assert hashes(tmp_path / "whole")["model.safetensors"] != hashes(tmp_path / "model")["model.safetensors"]


def test_a_checkpoint_opens_as_a_model_that_samples_the_same(tmp_path):
    engine = policy(save_model(tmp_path / "model"), lora={"rank": 4, "alpha": 8})
    engine.update(groups_of(engine), 1.0)
    engine.save_checkpoint(tmp_path / "saved")
    reopened = TorchPolicy(str(tmp_path / "saved"), None, PLAIN, "integer")
    mine, theirs = (e.sample(QUESTIONS, 4, SAMPLING, [1, 2, 3], STATS) for e in (engine, reopened))
    assert [r.token_ids for g in mine for r in g] == [r.token_ids for g in theirs for r in g]


def test_a_state_of_another_architecture_is_refused(tmp_path):
    small = policy(save_model(tmp_path / "small"))
    (tmp_path / "state").mkdir()
    small.save_state(tmp_path / "state")
    with pytest.raises(ValueError, match="another architecture"):
        policy(save_model(tmp_path / "wide", hidden_size=64, head_dim=16)).load_state(tmp_path / "state")


def test_training_with_a_sampler_is_refused(tmp_path):
    engine = policy(save_model(tmp_path))
    with pytest.raises(RuntimeError, match="sampling only"):
        TorchPolicy(str(tmp_path), None, PLAIN, "integer").update(groups_of(engine), 1.0)
