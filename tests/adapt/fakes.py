"""A policy without weights: it answers from a fixed table, and remembers what it was asked to do."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ttrlab.files import read_json, write_json
from ttrlab.seeds import rng
from ttrlab.types import Rollout


@dataclass
class FakePolicy:
    """Every roll-out is ``\\boxed{digit}``; the digits depend on the seed, the question and the number of updates so far."""

    updates: int = 0
    seen: list = field(default_factory=list)

    def sample(self, questions, n, sampling, seeds, stats):
        return [self._group(question, n, seed, stats) for question, seed in zip(questions, seeds, strict=True)]

    def _group(self, question, n, seed, stats):
        draw = rng(seed, question.id, self.updates)
        texts = [f"so \\boxed{{{digit}}}" if digit < 8 else "no answer" for digit in draw.integers(0, 10, n)]
        return tuple(
            Rollout(
                text=text,
                token_ids=(1, 2, 3),
                logprobs=draw.normal(-1, 0.3, 3).astype(np.float32),
                token_stats={name: draw.uniform(1, 2, 3).astype(np.float32) for name in sorted(stats)},
                step_ends=(3,),
            )
            for text in texts
        )

    def update(self, groups, temperature):
        self.updates += 1
        self.seen.append([(group.question.id, len(group.rollouts), group.advantages.tolist()) for group in groups])
        return {"grad_norm": 0.5, "updates": 1.0}

    def save_checkpoint(self, folder: Path):
        write_json(folder / "weights.json", self.updates)

    def save_state(self, folder: Path):
        write_json(folder / "state.json", self.updates)

    def load_state(self, folder: Path):
        self.updates = read_json(folder / "state.json")
