import numpy as np
import pytest
import torch
from transformers import GenerationConfig

from tests.engines.tiny import KINDS, PLAIN, QUESTIONS, SAMPLING, STATS, groups_of, policy, save_model
from ttrlab.config.settings import Lora
from ttrlab.engines.torch_model import together
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.engines.torch_score import response_logprobs, sequences_of
from ttrlab.files import hashes


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_logprobs_are_those_of_a_forward_pass_over_the_whole_text(tmp_path, kind):
    engine = policy(save_model(tmp_path, kind))
    groups = groups_of(engine)
    batch = sequences_of(groups, engine.prompter)
    with torch.no_grad():
        whole = response_logprobs(engine.model, batch, 1.0)
    for row, rollout in enumerate(r for group in groups for r in group.rollouts):
        np.testing.assert_allclose(rollout.logprobs, whole[row, : len(rollout.token_ids)].numpy(), atol=2e-5)


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


def test_a_state_of_another_optimiser_is_refused(tmp_path):
    folder = save_model(tmp_path / "model")
    (tmp_path / "state").mkdir()
    policy(folder).save_state(tmp_path / "state")
    with pytest.raises(ValueError, match=r"other settings.*'weight_decay': 0.01.*expected.*'weight_decay': 0.5"):
        policy(folder, weight_decay=0.5).load_state(tmp_path / "state")


def test_a_prompt_that_leaves_no_room_in_the_model_is_named(tmp_path):
    engine = policy(save_model(tmp_path, max_position_embeddings=17))
    with pytest.raises(ValueError, match=r"question 'b': 6 prompt tokens and max_new_tokens 12 exceed the model's 17 positions"):
        engine.sample(QUESTIONS, 1, SAMPLING, [1, 2, 3], STATS)


def test_every_stop_token_of_the_generation_config_ends_a_response(tmp_path):
    folder = save_model(tmp_path)
    plain = policy(folder)
    GenerationConfig(eos_token_id=[5, 6, 7, 8, 9, 10]).save_pretrained(folder)
    several = policy(folder)
    assert (plain.stops, several.stops) == ({1}, {1, 5, 6, 7, 8, 9, 10})
    ends = [r.token_ids[-1] for g in several.sample(QUESTIONS, 32, SAMPLING, [1, 2, 3], STATS) for r in g if not r.truncated]
    assert set(ends) & {5, 6, 7, 8, 9, 10}
    assert set(ends) <= several.stops


def test_questions_that_do_not_fit_together_are_sampled_one_after_the_other(tmp_path, monkeypatch):
    engine = policy(save_model(tmp_path))
    whole = engine.sample(QUESTIONS, 4, SAMPLING, [1, 2, 3], STATS)
    monkeypatch.setattr("ttrlab.engines.torch_model.CPU_BYTES", 1)
    assert together(engine.model, 4, 20) == 1
    parts = engine.sample(QUESTIONS, 4, SAMPLING, [1, 2, 3], STATS)
    assert [r.token_ids for g in whole for r in g] == [r.token_ids for g in parts for r in g]


def test_no_questions_give_no_rollouts(tmp_path):
    assert policy(save_model(tmp_path)).sample([], 4, SAMPLING, [], STATS) == []
