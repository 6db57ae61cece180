"""Groups of roll-outs for tests of rules: from answers, with or without every number that an engine can attach."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ttrlab import signals
from ttrlab.rewards import Rule
from ttrlab.types import NO_ANSWER, Question, Rollout, RolloutGroup

WORDS = ("add", "carry", "then", "so", "we", "get", "the", "sum", "of", "both", "digits", "again")


class Blind(Mapping[str, np.ndarray]):
    """Signals without gold: asking for it is an error that no rule may swallow."""

    def __init__(self, held):
        self.held = dict(held)

    def __getitem__(self, name):
        if name == "correct":
            raise AssertionError("a label-free rule asked for gold")
        return self.held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self):
        return len(self.held)


def classes(answers):
    """Class ids by first appearance; None is NO_ANSWER."""
    ids = {}
    return np.array([NO_ANSWER if a is None else ids.setdefault(a, len(ids)) for a in answers], dtype=np.int64)


def group(answers, held=None, seed=0, name="q1", texts=None):
    """A group with these answers and signals."""
    texts = texts or [f"text {i}" for i in range(len(answers))]
    rollouts = tuple(Rollout(text, answer=answer) for text, answer in zip(texts, answers, strict=True))
    held = {key: np.asarray(values) for key, values in (held or {}).items()}
    return RolloutGroup(Question(name, "What is it?"), rollouts, classes(answers), held, seed)


def rollout(rng, answer, tokens=12):
    """A roll-out with every number that an engine can attach."""
    return Rollout(
        text=" ".join(rng.choice(WORDS, 12)) + f" {answer}",
        token_ids=tuple(range(tokens)),
        logprobs=-rng.exponential(0.3, tokens).astype(np.float32),
        answer=answer,
        token_stats={
            "topk_confidence": rng.uniform(8, 14, tokens).astype(np.float32),
            "entropy": rng.exponential(0.5, tokens).astype(np.float32),
            "self_certainty": rng.uniform(10, 20, tokens).astype(np.float32),
        },
        step_ends=(tokens // 3, tokens // 2, tokens),
    )


def formed(rule: Rule, rollouts, seed=0, name="q1", scores=None):
    """The group that a loop would form for the rule, judged where it asks; gold only for the oracle."""
    n = len(rollouts)
    held = signals.compute(rule.needs, rollouts)
    if "correct" in rule.needs:
        held["correct"] = np.array([(hash_(r.answer) % 3) - 1 for r in rollouts], dtype=np.int8)
    if "judge_score" in rule.needs:
        held |= {"judge_score": np.full(n, np.nan), "judge_fits": np.array([r.answer is not None for r in rollouts])}
    made = RolloutGroup(
        Question(name, "What is it?"),
        tuple(rollouts),
        classes([r.answer for r in rollouts]),
        held if rule.needs_gold else Blind(held),
        seed,
    )
    return judged(rule, made, scores or [hash_(r.answer) % 11 for r in rollouts])


def judged(rule: Rule, made, scores):
    """Answer the rule's requests from ``scores`` until it has none."""
    while asked := rule.requests(made):
        filled = made.signals["judge_score"].copy()
        filled[list(asked)] = np.array(scores, dtype=float)[list(asked)]
        made = replace(made, signals=Blind({**made.signals, "judge_score": filled}))
    return made


def hash_(answer):
    """A small number that depends on the answer alone."""
    return 0 if answer is None else sum(map(ord, str(answer))) * 7


def random_rollouts(seed, n=32, answers=("20", "15", "x+1", "7", None), shares=(0.42, 0.24, 0.13, 0.11, 0.1)):
    """n roll-outs with answers drawn by share."""
    rng = np.random.default_rng(seed)
    return [rollout(rng, answers[i]) for i in rng.choice(len(answers), n, p=shares)]
