"""SmolLM2-135M: tokens a CPU second and the largest process of sampling and of an update, against transformers and TRL, in one run.

Every measurement has a process of its own, so that its peak is its own. All work on the same 5 two-digit sums x 16 roll-outs with the same
prompt: this engine and ``transformers.generate`` sample until the stop token; this engine and a plain loop (whole sequences, padded,
micro-batches of 16) make the same GRPO update on the same roll-outs; this engine and TRL's ``GRPOTrainer`` do both. Every second roll-out
is rewarded. Tokens are those of responses, the stop token included.

Run: make bench-smollm2, which writes results/bench/smollm2.json for docs/results-smollm2.md.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
from torch.nn.functional import log_softmax
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from transformers.utils import logging

from ttrlab.advantage import group_advantage
from ttrlab.benchmarks.arithmetic import questions
from ttrlab.config.arithmetic import TwoDigit
from ttrlab.config.catalogue import load_catalogue
from ttrlab.config.settings import Sampling, Training
from ttrlab.engines import ENGINES, open_policy
from ttrlab.engines.base import TrainingGroup
from ttrlab.files import write_json
from ttrlab.types import Rollout

MODEL, OUT = Path("results/smollm2-135m-instruct"), Path("results/bench/smollm2.json")
QUESTIONS, ROLLOUTS, NEW, MICRO, RATE = 5, 16, 24, 16, 1e-6
ASKED = [question for question, _ in questions(TwoDigit(operation="sum"), QUESTIONS)]
ADVANTAGES = group_advantage((np.arange(ROLLOUTS) % 2).astype(np.float64))


def policy() -> Any:
    style = load_catalogue(Path("config")).models["smollm2-135m"].prompt
    training = Training(votes=ROLLOUTS, train=ROLLOUTS, batch=QUESTIONS, micro_batch=MICRO, kl_coefficient=0, learning_rate=RATE)
    return open_policy("torch", str(MODEL), None, style, "integer", training, 100, 0)


def sampled(engine: Any, seed: int = 0) -> list[tuple[Rollout, ...]]:
    seeds = [1000 * seed + i for i in range(QUESTIONS)]
    return engine.sample(ASKED, ROLLOUTS, Sampling(max_new_tokens=NEW), seeds, ENGINES["torch"].token_stats)


def prompts() -> list[list[int]]:
    engine = policy()
    return [engine.prompter.tokens(question, 512) for question in ASKED]


def length(groups: list[tuple[Rollout, ...]]) -> int:
    return sum(len(rollout.token_ids) for group in groups for rollout in group)


def load() -> tuple[int, float]:
    start = time.process_time()
    policy()
    return 0, time.process_time() - start


def sample() -> tuple[int, float]:
    engine, start = policy(), time.process_time()
    return length(sampled(engine)), time.process_time() - start


def generate() -> tuple[int, float]:
    tokenizer = AutoTokenizer.from_pretrained(MODEL, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
    batch = tokenizer.pad({"input_ids": prompts()}, return_tensors="pt")
    torch.manual_seed(0)
    start = time.process_time()
    settings = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "max_new_tokens": NEW, "num_return_sequences": ROLLOUTS}
    with torch.no_grad():
        made = model.generate(**batch, **settings, pad_token_id=tokenizer.eos_token_id)[:, batch["input_ids"].shape[1] :]
    seconds = time.process_time() - start
    ended = (made == tokenizer.eos_token_id).long()
    lengths = torch.where(ended.any(1), ended.argmax(1) + 1, made.shape[1])
    return int(lengths.sum()), seconds


def update(engine: Any, groups: list[tuple[Rollout, ...]]) -> None:
    engine.update([TrainingGroup(question, group, ADVANTAGES) for question, group in zip(ASKED, groups, strict=True)], 1.0)


def engine_update() -> tuple[int, float]:
    engine = policy()
    groups = sampled(engine)
    update(engine, groups)  # the optimiser's state is made in the first update, in the plain loop's too
    start = time.process_time()
    update(engine, groups)
    return length(groups), time.process_time() - start


def plain_update() -> tuple[int, float]:
    engine = policy()
    groups, asked = sampled(engine), prompts()
    model, total = engine.model, length(groups)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    rows = [
        (prompt, rollout.token_ids, advantage)
        for prompt, group in zip(asked, groups, strict=True)
        for rollout, advantage in zip(group, ADVANTAGES, strict=True)
    ]

    def step() -> None:
        optimiser.zero_grad()
        for first in range(0, len(rows), MICRO):
            part = rows[first : first + MICRO]
            ids = pad_sequence([torch.tensor([*prompt, *tokens]) for prompt, tokens, _ in part], batch_first=True)
            mask = pad_sequence([torch.ones(len(prompt) + len(tokens)) for prompt, tokens, _ in part], batch_first=True)
            logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1]
            said = log_softmax(logits, dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
            loss = torch.zeros(())
            for row, (prompt, tokens, advantage) in enumerate(part):
                own = said[row, len(prompt) - 1 : len(prompt) - 1 + len(tokens)]
                loss = loss - advantage * torch.exp(own - own.detach()).sum()
            (loss / total).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()

    step()
    start = time.process_time()
    step()
    return total, time.process_time() - start


def engine_step() -> tuple[int, float]:
    engine = policy()
    update(engine, sampled(engine))
    start = time.process_time()
    groups = sampled(engine, 1)
    update(engine, groups)
    return length(groups), time.process_time() - start


class Watch(TrainerCallback):
    """CPU seconds of each of TRL's steps."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self.start = time.process_time()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.seconds.append(time.process_time() - self.start)


def trl_step() -> tuple[int, float]:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    tokenizer = AutoTokenizer.from_pretrained(MODEL, padding_side="left")
    texts = [tokenizer.decode(ids) for ids in prompts()]
    torch.use_deterministic_algorithms(False)  # which the engine switches on for the process
    lengths: list[int] = []

    def reward(completion_ids: list[list[int]], **_: Any) -> list[float]:
        lengths.append(sum(map(len, completion_ids)))
        return [float(i % 2) for i in range(len(completion_ids))]

    parts = QUESTIONS * ROLLOUTS // MICRO
    with tempfile.TemporaryDirectory() as output, contextlib.redirect_stdout(sys.stderr):
        settings = GRPOConfig(
            output_dir=output, use_cpu=True, bf16=False, activation_checkpointing=False, per_device_train_batch_size=MICRO,
            gradient_accumulation_steps=parts, steps_per_generation=parts, num_generations=ROLLOUTS, max_completion_length=NEW,
            temperature=1.0, beta=0.0, loss_type="dapo", learning_rate=RATE, lr_scheduler_type="constant", max_steps=2, report_to=[],
            save_strategy="no", logging_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        watch = Watch()
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32), processing_class=tokenizer, args=settings,
            reward_funcs=reward, train_dataset=Dataset.from_dict({"prompt": texts}), callbacks=[watch],
        )  # fmt: skip
        trainer.train()
    return lengths[-1], watch.seconds[-1]


PARTS = {
    "load": ("load the model", "this engine", load, "load"),
    "sample": ("sample", "this engine", sample, "sample"),
    "generate": ("sample", "transformers.generate", generate, "sample"),
    "update": ("one update", "this engine", engine_update, "update"),
    "plain": ("one update", "a plain loop", plain_update, "update"),
    "step": ("sample and update", "this engine", engine_step, "step"),
    "trl": ("sample and update", "TRL's GRPOTrainer", trl_step, "step"),
}
"""Name -> (what, by whom, the measurement, the part of this engine that it is compared with)."""


def measured(name: str) -> dict[str, float]:
    """One part in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--part", name], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="measure this one here and print it as JSON")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    if arguments.part:
        tokens, seconds = PARTS[arguments.part][2]()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"tokens": tokens, "cpu": seconds, "peak_mb": peak}))
        return
    found = {name: measured(name) for name in PARTS}
    rows = [
        {"what": what, "by": by, **found[name], "own_tokens": found[own]["tokens"], "own_cpu": found[own]["cpu"]}
        for name, (what, by, _, own) in PARTS.items()
    ]
    caption = (
        f"Speed and memory on {QUESTIONS} sums x {ROLLOUTS} roll-outs of up to {NEW} tokens, one thread, float32, one run each in a "
        "process of its own (`make bench-smollm2`). Updates are second ones, with the optimiser's state in memory."
    )
    write_json(OUT, {"caption": caption, "rows": rows})
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
