"""One training step (sample, advantages, one update) of the torch engine against TRL's GRPOTrainer: CPU seconds and their ratio.

Both load the same random weights, sample as many responses of the same length to the same prompts, give every second roll-out a reward,
and make one update without KL term in micro-batches of the same size. The stop token lies just outside the model's vocabulary, so that
every response has its full length in both.

Run: python bench/bench_engine.py [tiny|smollm2]
"""

import contextlib
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from ttrlab.advantage import group_advantage
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.settings import Sampling, Training
from ttrlab.engines import ENGINES, open_policy
from ttrlab.engines.base import TrainingGroup
from ttrlab.types import Question

DIGITS = "0123456789"


@dataclass(frozen=True)
class Case:
    """A model shape and the size of a step."""

    name: str
    shape: dict[str, int]
    questions: int
    rollouts: int
    prompt_tokens: int
    new_tokens: int
    micro_batch: int
    steps: int

    @property
    def rows(self) -> int:
        return self.questions * self.rollouts


CASES = {
    "tiny": Case(
        "the lab's tiny model",
        {
            "vocab_size": 88,
            "hidden_size": 128,
            "intermediate_size": 384,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
        },
        questions=32,
        rollouts=32,
        prompt_tokens=8,
        new_tokens=14,
        micro_batch=256,
        steps=5,
    ),
    "smollm2": Case(
        "SmolLM2-135M's shape",
        {
            "vocab_size": 49152,
            "hidden_size": 576,
            "intermediate_size": 1536,
            "num_hidden_layers": 30,
            "num_attention_heads": 9,
            "num_key_value_heads": 3,
        },
        questions=2,
        rollouts=8,
        prompt_tokens=32,
        new_tokens=14,
        micro_batch=16,
        steps=1,
    ),
}


def save_model(case: Case, folder: Path) -> None:
    """Random weights, and a tokenizer of one token a character whose stop token the model cannot emit."""
    torch.manual_seed(0)
    size = case.shape["vocab_size"]
    config = LlamaConfig(**case.shape, max_position_embeddings=256, tie_word_embeddings=True, pad_token_id=0, eos_token_id=size)
    model = LlamaForCausalLM(config)
    model.generation_config.eos_token_id = size
    model.save_pretrained(folder)
    names = ["<pad>", *DIGITS]
    vocabulary = {token: number for number, token in enumerate([*names, *(f"<{i}>" for i in range(len(names), size)), "</s>"])}
    inner = Tokenizer(WordLevel(vocabulary, unk_token="<pad>"))
    inner.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
    inner.decoder = Fuse()
    PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="</s>", pad_token="<pad>").save_pretrained(folder)


def prompts(case: Case) -> list[str]:
    draw = np.random.default_rng(0)
    return ["".join(DIGITS[i] for i in draw.integers(0, 10, case.prompt_tokens)) for _ in range(case.questions)]


def engine_seconds(case: Case, folder: Path) -> list[float]:
    """CPU seconds of each step after the first; the roll-outs carry log-probs and every token statistic, as in a run."""
    rewards = (np.arange(case.rollouts) % 2).astype(np.float64)
    training = Training(
        votes=case.rollouts, train=case.rollouts, batch=case.questions, micro_batch=case.micro_batch, kl_coefficient=0, learning_rate=1e-6
    )
    policy = open_policy("torch", str(folder), None, PromptStyle(template="plain", where="none"), "math", training, 100, 0)
    asked = [Question(str(i), prompt) for i, prompt in enumerate(prompts(case))]
    sampling = Sampling(max_new_tokens=case.new_tokens)
    seconds = []
    for step in range(case.steps + 1):
        start = time.process_time()
        sampled = policy.sample(
            asked, case.rollouts, sampling, [1000 * step + i for i in range(case.questions)], ENGINES["torch"].token_stats
        )
        assert all(len(rollout.token_ids) == case.new_tokens for group in sampled for rollout in group)
        groups = [TrainingGroup(q, rollouts, group_advantage(rewards)) for q, rollouts in zip(asked, sampled, strict=True)]
        policy.update(groups, 1.0)
        seconds.append(time.process_time() - start)
    return seconds[1:]


class Watch(TrainerCallback):
    """CPU seconds between the beginnings and ends of TRL's steps."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.start = 0.0

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self.start = time.process_time()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.seconds.append(time.process_time() - self.start)


def trl_seconds(case: Case, folder: Path) -> list[float]:
    """CPU seconds of each step after the first."""
    lengths: set[int] = set()

    def reward(completion_ids: list[list[int]], **_: Any) -> list[float]:
        lengths.update(map(len, completion_ids))
        return [float(i % 2) for i in range(len(completion_ids))]

    parts = case.rows // case.micro_batch
    with tempfile.TemporaryDirectory() as output:
        settings = GRPOConfig(
            output_dir=output, use_cpu=True, bf16=False, activation_checkpointing=False, per_device_train_batch_size=case.micro_batch,
            gradient_accumulation_steps=parts, steps_per_generation=parts, num_generations=case.rollouts,
            max_completion_length=case.new_tokens, temperature=1.0, beta=0.0, loss_type="dapo", learning_rate=1e-6,
            lr_scheduler_type="constant", max_steps=case.steps + 1, report_to=[], save_strategy="no", logging_strategy="no",
            disable_tqdm=True,
        )  # fmt: skip
        watch = Watch()
        trainer = GRPOTrainer(
            model=LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32),
            processing_class=PreTrainedTokenizerFast.from_pretrained(folder, padding_side="left"),
            args=settings,
            reward_funcs=reward,
            train_dataset=Dataset.from_dict({"prompt": prompts(case)}),
            callbacks=[watch],
        )
        with contextlib.redirect_stdout(sys.stderr):
            trainer.train()
    assert lengths == {case.new_tokens}, f"TRL sampled responses of {sorted(lengths)} tokens"
    return watch.seconds[1:]


def main() -> None:
    torch.set_num_threads(1)
    for name in sys.argv[1:] or CASES:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            save_model(case, folder)
            theirs = float(np.mean(trl_seconds(case, folder)))
            ours = float(np.mean(engine_seconds(case, folder)))
        print(
            f"{case.name}: {case.questions} questions x {case.rollouts} roll-outs, {case.prompt_tokens} + {case.new_tokens} tokens: "
            f"TRL {theirs:.2f}, this engine {ours:.2f} CPU seconds a step, {theirs / ours:.2f} x faster"
        )
        assert theirs >= ours, f"{case.name}: slower than TRL, {theirs / ours:.2f} x"


if __name__ == "__main__":
    main()
