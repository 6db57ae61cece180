"""The shared-prompt pass against the plain one: the model's own forward over each whole text."""

import numpy as np
import pytest
import torch

from tests.engines.tiny import KINDS, save_model
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.settings import Sampling
from ttrlab.engines.base import TOKEN_STATS, TrainingGroup
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.engines.torch_score import Sequences, response_logprobs, sequences_of
from ttrlab.types import Question, Rollout

SHAPES = {
    **{kind: {"kind": kind} for kind in KINDS},
    "mistral with a window of 5": {"kind": "mistral", "sliding_window": 5},
    "qwen2 with a window of 5": {"kind": "qwen2", "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
}
QUESTIONS = [Question("a", "1+1="), Question("b", "12+30+7+8="), Question("c", "a+b+c=")]
SAMPLING = Sampling(max_new_tokens=12, max_prompt_tokens=32)


def opened(folder, shape):
    model = save_model(folder, **SHAPES[shape], initializer_range=0.1)
    return TorchPolicy(model, None, PromptStyle(template="plain", where="none"), "math")


def plain_logprobs(model, prompt, response, temperature):
    logits = model(input_ids=torch.tensor([[*prompt, *response]]), use_cache=False).logits[0, len(prompt) - 1 : -1]
    return (logits / temperature).log_softmax(-1)[torch.arange(len(response)), torch.tensor(response)]


@pytest.mark.parametrize("temperature", [1.0, 0.6])
@pytest.mark.parametrize("shape", SHAPES)
def test_shared_prompts_give_the_logprobs_and_the_gradient_of_whole_texts(tmp_path, shape, temperature):
    engine = opened(tmp_path, shape)
    prompts = [engine.prompter.tokens(question, 32) for question in QUESTIONS]
    draw = np.random.default_rng(0)
    rows = [(tuple(prompts[i]), tuple(draw.integers(2, 40, length).tolist())) for i, length in ((0, 3), (0, 9), (1, 1), (1, 7), (2, 12))]
    batch = Sequences(*map(tuple, zip(*rows, strict=True)), torch.ones(len(rows)), tuple(range(len(rows))))
    weight = torch.linspace(-1, 1, 5)
    mask = batch.weights("seq-mean-token-sum") > 0
    shared = response_logprobs(engine.model, batch, temperature)
    (weight[:, None] * torch.where(mask, shared, 0)).sum().backward()
    gradient = torch.cat([parameter.grad.flatten() for parameter in engine.model.parameters()])
    engine.model.zero_grad()
    whole = [plain_logprobs(engine.model, *row, temperature) for row in rows]
    sum(w * one.sum() for w, one in zip(weight, whole, strict=True)).backward()
    expected = torch.cat([parameter.grad.flatten() for parameter in engine.model.parameters()])
    for row, one in enumerate(whole):
        torch.testing.assert_close(shared[row, : len(one)], one, atol=1e-5, rtol=1e-5)
    assert float((gradient - expected).norm() / expected.norm()) < 2e-6


@pytest.mark.parametrize("shape", SHAPES)
def test_sampling_past_the_short_cache_agrees_with_the_forward_over_the_whole_text(tmp_path, shape):
    engine = opened(tmp_path, shape)
    long = SAMPLING.model_copy(update={"max_new_tokens": 70})
    for question, group in zip(QUESTIONS, engine.sample(QUESTIONS, 6, long, [1, 2, 3], frozenset(TOKEN_STATS)), strict=True):
        for rollout in group:
            with torch.no_grad():
                expected = plain_logprobs(engine.model, engine.prompter.tokens(question, 32), rollout.token_ids, 1.0)
            np.testing.assert_allclose(rollout.logprobs, expected.numpy(), atol=2e-5)


def test_padding_does_not_reach_the_loss(tmp_path):
    engine = opened(tmp_path, "llama")
    short, long = Rollout("", token_ids=(5, 6)), Rollout("", token_ids=(7, 8, 9, 10, 11))
    pair = sequences_of([TrainingGroup(QUESTIONS[0], (short, long), np.array([1.0, -1.0]))], engine.prompter)
    alone = sequences_of([TrainingGroup(QUESTIONS[0], (short,), np.array([1.0]))], engine.prompter)
    weights = pair.weights("token-mean")
    assert weights[0].tolist() == pytest.approx([1 / 7, 1 / 7, 0, 0, 0])
    with torch.no_grad():
        together, single = response_logprobs(engine.model, pair, 1.0), response_logprobs(engine.model, alone, 1.0)
    torch.testing.assert_close(together[0, :2], single[0], atol=1e-6, rtol=1e-6)


def test_a_rollout_without_tokens_is_named(tmp_path):
    engine = opened(tmp_path, "llama")
    with pytest.raises(ValueError, match="question 'a': a trained roll-out has no tokens"):
        sequences_of([TrainingGroup(QUESTIONS[0], (Rollout(""),), np.array([1.0]))], engine.prompter)
