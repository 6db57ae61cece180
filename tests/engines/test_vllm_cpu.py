"""vLLM itself, on the CPU, with a real model: `make test-vllm`. Skipped where vLLM is not installed (it has an environment of its own)."""

import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("vllm", reason="vLLM has an environment of its own: make test-vllm")

import torch
from transformers import AutoModelForCausalLM

from ttrlab.config.catalogue import KINDS, PromptStyle, read_yaml
from ttrlab.config.judge import JudgeLimits, ServerHome
from ttrlab.config.settings import Sampling, Training
from ttrlab.engines import open_policy
from ttrlab.engines.base import TrainingGroup
from ttrlab.rectifier.judge import JudgeItem
from ttrlab.rectifier.prompt import MATH
from ttrlab.rectifier.server import ServerJudge
from ttrlab.types import Question

ENTRY = KINDS["models"].validate_python(read_yaml(Path("config/models/smollm2.yaml")))["smollm2-135m"]
QUESTIONS = [Question("a", "What is 23 + 58?"), Question("b", "What is 17 * 4?")]
SAMPLING = Sampling(max_new_tokens=24)
TRAINING = Training(votes=8, train=8, batch=2, updates=1, learning_rate=1e-5, warmup_steps=0, kl_coefficient=0, micro_batch=8)


def largest_difference(folder, prompter, groups):
    """Largest distance in nats between vLLM's log-probs and those of transformers' own forward pass over the whole sequences."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    worst = 0.0
    for question, rollouts in zip(QUESTIONS, groups, strict=True):
        prompt = prompter.tokens(question, 999)
        for rollout in rollouts:
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([[*prompt, *rollout.token_ids]])).logits[0]
            positions = torch.arange(len(prompt) - 1, len(logits) - 1)
            own = logits.log_softmax(dim=-1)[positions, torch.tensor(rollout.token_ids)]
            worst = max(worst, float(np.abs(own.numpy() - rollout.logprobs).max()))
    return worst


def test_log_probs_are_those_of_torch_before_and_after_an_update(tmp_path):
    policy = open_policy("vllm", ENTRY.path, None, ENTRY.prompt, "integer", TRAINING, 1, 0)
    before = policy.sample(QUESTIONS, 8, SAMPLING, [1, 2], frozenset({"topk_confidence"}))
    assert largest_difference(ENTRY.path, policy.prompter, before) < 1e-3
    advantages = np.tile([1.0, -1.0], 4)
    policy.update([TrainingGroup(question, group, advantages) for question, group in zip(QUESTIONS, before, strict=True)], 1.0)
    after = policy.sample(QUESTIONS, 8, SAMPLING, [1, 2], frozenset({"topk_confidence"}))
    policy.save_checkpoint(tmp_path)
    assert largest_difference(tmp_path, policy.prompter, after) < 1e-3
    assert largest_difference(ENTRY.path, policy.prompter, after) > 1e-3  # so the new weights are the ones that sampled


@pytest.fixture
def address():
    """Where vLLM's server comes up with the model; the judge waits for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", ENTRY.path, "--dtype", "float32", "--enforce-eager"]
    process = subprocess.Popen([*command, "--max-model-len", "2048", "--port", str(port)], stdout=subprocess.DEVNULL)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(timeout=60)


def test_a_served_model_judges_the_same_twice_within_its_limits(address):
    home = ServerHome(url=address, served_model=ENTRY.path, request_seconds=300, restart_seconds=300)
    limits = JudgeLimits(input_tokens=1024, output_tokens=48, context_tokens=2048)
    judge = ServerJudge(home, MATH, limits, "weights", PromptStyle(where="none"))
    items = [JudgeItem("What is 23 + 58?", f"23 + 58 = {answer}, \\boxed{{{answer}}}", answer) for answer in ("81", "71")]
    judge.check()
    assert all(judge.fits(item) for item in items)
    assert not judge.fits(JudgeItem("What is 23 + 58?", "so " * 2000, "81"))
    judged = judge.judge(items)
    assert judged == judge.judge(items)
    assert all(0 < verdict.tokens <= 48 for verdict in judged)
