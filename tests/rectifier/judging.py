"""Fakes that several tests of the rectifier share: a judge that counts, a policy whose outputs are scripted, groups."""

from collections.abc import Callable, Sequence

import numpy as np

from ttrlab.rectifier.judge import JudgedItem, JudgeItem
from ttrlab.types import Question, Rollout, RolloutGroup


class CountingJudge:
    """Scores by answer length, and remembers what it was asked."""

    identity = "counting"

    def __init__(self):
        self.batches: list[list[JudgeItem]] = []
        self.fit_questions = 0

    def fits(self, item: JudgeItem) -> bool:
        self.fit_questions += 1
        return len(item.solution) < 100

    def judge(self, items: Sequence[JudgeItem]) -> list[JudgedItem]:
        self.batches.append(list(items))
        return [JudgedItem(len(item.answer) % 11, "length", 3) for item in items]


class ScriptedPolicy:
    """Samples ``script(prompt, seed, i)``; keeps the updates it was given."""

    def __init__(self, script: Callable[[str, int, int], str]):
        self.script, self.calls, self.updates, self.supervised = script, [], [], []

    def sample(self, questions, n, sampling, seeds, stats):
        self.calls.append((len(questions), n, sampling, tuple(seeds)))
        return [
            tuple(Rollout(self.script(q.prompt, seed, i), token_ids=(1, 2, 3)) for i in range(n))
            for q, seed in zip(questions, seeds, strict=True)
        ]

    def update(self, groups, temperature):
        self.updates.append((groups, temperature))
        return {"policy_loss": 0.5}

    def supervised_update(self, questions, targets, learning_rate):
        self.supervised.append((tuple(q.prompt for q in questions), tuple(targets), learning_rate))
        return {"loss": 1.0}


def judged_group(classes, scores, fits=None, tokens=None) -> RolloutGroup:
    """A group with judgements: ``scores`` NaN where ``fits`` is False."""
    classes = np.array(classes, dtype=np.int64)
    fits = classes >= 0 if fits is None else np.array(fits, dtype=bool)
    signals = {
        "judge_fits": fits,
        "judge_score": np.where(fits, np.array(scores, dtype=np.float64), np.nan),
        "judge_tokens": np.full(classes.size, 10) if tokens is None else np.array(tokens),
    }
    rollouts = tuple(Rollout(f"solution {i}", answer=None if c < 0 else str(c)) for i, c in enumerate(classes))
    return RolloutGroup(Question("q", "1+1=?"), rollouts, classes, signals)
