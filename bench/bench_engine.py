"""One training step (sample, advantages, one update) of the torch engine against TRL's GRPOTrainer: CPU seconds and their ratio.

Both load the same weights, sample as many roll-outs of the same prompts, reward every second one, and make one update without KL term
in micro-batches of the same size. Three cases:

  lab      the lab's pre-trained model, whose roll-outs of a question are often the same text (about a minute of pre-training first)
  tiny     the same shape with random weights: no two roll-outs alike
  smollm2  SmolLM2-135M's shape with random weights

Where weights are random the stop token lies just outside the model's vocabulary, so that every response has its full length in both;
in the lab the mean lengths are compared.

Run: python bench/bench_engine.py [lab] [tiny] [smollm2]
"""

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Mapping
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
from transformers.utils import logging
from trl import GRPOConfig, GRPOTrainer

from ttrlab.advantage import group_advantage
from ttrlab.benchmarks.lab import questions
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.lab import LabBenchmark, LabModel
from ttrlab.config.settings import Sampling, Training
from ttrlab.engines import ENGINES, open_policy
from ttrlab.engines.base import TrainingGroup
from ttrlab.engines.pretrain import pretrain
from ttrlab.types import Question

DIGITS = "0123456789"
TINY = {
    "vocab_size": 88, "hidden_size": 128, "intermediate_size": 384,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
}  # fmt: skip
SMOLLM2 = {
    "vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536,
    "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model and the size of a step. ``shape`` None: the lab's pre-trained model. ``least``: the ratio that is asked for."""

    name: str
    shape: Mapping[str, int] | None
    questions: int
    rollouts: int
    prompt_tokens: int
    new_tokens: int
    micro_batch: int
    steps: int
    least: float

    @property
    def rows(self) -> int:
        return self.questions * self.rollouts


CASES = {
    "lab": Case("the lab's pre-trained model", None, 32, 32, 7, 20, 256, 4, 2.0),
    "tiny": Case("the lab's tiny shape, random weights", TINY, 32, 32, 8, 14, 256, 4, 1.0),
    "smollm2": Case("SmolLM2-135M's shape, random weights", SMOLLM2, 2, 8, 32, 14, 16, 1, 1.0),
}


def save_random_model(shape: Mapping[str, int], folder: Path) -> None:
    """Random weights, and a tokenizer of one token a character whose stop token the model cannot emit."""
    torch.manual_seed(0)
    size = shape["vocab_size"]
    config = LlamaConfig(**shape, max_position_embeddings=256, tie_word_embeddings=True, pad_token_id=0, eos_token_id=size)
    model = LlamaForCausalLM(config)
    model.generation_config.eos_token_id = size
    model.save_pretrained(folder)
    names = ["<pad>", *DIGITS]
    vocabulary = {token: number for number, token in enumerate([*names, *(f"<{i}>" for i in range(len(names), size)), "</s>"])}
    inner = Tokenizer(WordLevel(vocabulary, unk_token="<pad>"))
    inner.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
    inner.decoder = Fuse()
    PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="</s>", pad_token="<pad>").save_pretrained(folder)


def prepare(case: Case, folder: Path) -> list[str]:
    """Write the case's model to ``folder`` and return its prompts."""
    if case.shape is None:
        pretrain(LabModel(), folder)
        mix = LabBenchmark(mix={"contested": 20, "saturated": 8, "floor": 4})
        return [question.prompt for question, _, _ in questions(mix)]
    save_random_model(case.shape, folder)
    draw = np.random.default_rng(0)
    return ["".join(DIGITS[i] for i in draw.integers(0, 10, case.prompt_tokens)) for _ in range(case.questions)]


@dataclass(frozen=True)
class Measured:
    """CPU seconds of each step after the first, and the mean length of all responses in tokens."""

    seconds: list[float]
    length: float


def engine_step(case: Case, folder: Path, prompts: list[str]) -> Measured:
    """This engine; the roll-outs carry log-probs and every token statistic, as in a run."""
    rewards = (np.arange(case.rollouts) % 2).astype(np.float64)
    training = Training(
        votes=case.rollouts, train=case.rollouts, batch=case.questions, micro_batch=case.micro_batch, kl_coefficient=0, learning_rate=1e-6
    )
    policy = open_policy("torch", str(folder), None, PromptStyle(template="plain", where="none"), "math", training, 100, 0)
    asked = [Question(str(i), prompt) for i, prompt in enumerate(prompts)]
    sampling, stats = Sampling(max_new_tokens=case.new_tokens), ENGINES["torch"].token_stats
    seconds, lengths = [], []
    for step in range(case.steps + 1):
        start = time.process_time()
        sampled = policy.sample(asked, case.rollouts, sampling, [1000 * step + i for i in range(case.questions)], stats)
        policy.update([TrainingGroup(q, group, group_advantage(rewards)) for q, group in zip(asked, sampled, strict=True)], 1.0)
        seconds.append(time.process_time() - start)
        lengths += [len(rollout.token_ids) for group in sampled for rollout in group]
    return Measured(seconds[1:], float(np.mean(lengths)))


class Watch(TrainerCallback):
    """CPU seconds between the beginnings and ends of TRL's steps."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.start = 0.0

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self.start = time.process_time()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.seconds.append(time.process_time() - self.start)


def trl_step(case: Case, folder: Path, prompts: list[str]) -> Measured:
    """TRL's trainer, without activation checkpoints and with nothing to log or save."""
    torch.use_deterministic_algorithms(False)  # which the engine switches on for the process; it would make TRL twice as slow
    lengths: list[int] = []

    def reward(completion_ids: list[list[int]], **_: Any) -> list[float]:
        lengths.extend(map(len, completion_ids))
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
            train_dataset=Dataset.from_dict({"prompt": prompts}),
            callbacks=[watch],
        )
        with contextlib.redirect_stdout(sys.stderr):
            trainer.train()
    return Measured(watch.seconds[1:], float(np.mean(lengths)))


def main() -> None:
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    for name in sys.argv[1:] or CASES:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            prompts = prepare(case, folder)
            theirs, ours = trl_step(case, folder, prompts), engine_step(case, folder, prompts)
        ratio = float(np.mean(theirs.seconds) / np.mean(ours.seconds))
        print(
            f"{case.name}: {case.questions} questions x {case.rollouts} roll-outs of {ours.length:.1f} tokens (TRL {theirs.length:.1f}): "
            f"TRL {np.mean(theirs.seconds):.2f}, this engine {np.mean(ours.seconds):.2f} CPU seconds a step, {ratio:.2f} x faster"
        )
        assert abs(theirs.length / ours.length - 1) < 0.02, "the two did not sample responses of the same length"
        assert ratio >= case.least, f"{case.name}: only {ratio:.2f} x, expected {case.least} x"


if __name__ == "__main__":
    main()
