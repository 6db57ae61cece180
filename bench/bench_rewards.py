"""What rewards cost: CoRE against scikit-learn and numpy, and every label-free rule as a share of a training step.

Run: python bench/bench_rewards.py
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import get_args

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from ttrlab import signals
from ttrlab.rewards import Core, RewardRule, Rule
from ttrlab.signals.similarity import tfidf_cosine
from ttrlab.types import Question, Rollout, RolloutGroup

N, CHARACTERS, TOKENS = 64, 8000, 2400
PAPER = {"questions": 32, "votes": 64, "characters": CHARACTERS, "tokens": TOKENS, "seconds": 177.0}
"""A step of TRUER's MATH500 runs takes 177 s with 32 votes a question; 64 are the larger, TTRL's number."""
LAB = {"questions": 32, "votes": 32, "characters": 30, "tokens": 14, "seconds": 1.0}
"""A step of the lab on one core."""
OPENINGS = (
    "First we compute", "Then we simplify", "Hence we obtain", "Substituting this into the equation gives", "It follows that we need",
    "Let us consider", "By symmetry, this equals", "Now we factor", "Recall the formula for", "Checking small cases, we find",
)  # fmt: skip
THINGS = (
    "the sum of the roots", "the area of the triangle", "the remainder modulo", "the number of ways", "the value of the expression",
    "the common denominator", "the discriminant", "both sides of it", "the probability of drawing", "the greatest common divisor",
)  # fmt: skip


def reasoning(rng: np.random.Generator, characters: int) -> str:
    """Text as a model writes it about one question: stock phrases around expressions of its own."""
    steps = (
        f"{rng.choice(OPENINGS)} {rng.choice(THINGS)}: $\\frac{{{rng.integers(10, 9999)}}}{{{rng.integers(2, 99)}}}"
        f"x^{rng.integers(2, 9)} {rng.choice(['+', '-', '='])} \\sqrt{{{rng.integers(2, 999)}}}$."
        for _ in range(characters // 40 + 1)
    )
    return "\n\n".join(steps)[:characters]


def rollouts(rng: np.random.Generator, n: int, characters: int, tokens: int) -> list[Rollout]:
    """n roll-outs with every number that an engine can attach."""
    answers = rng.choice(["20", "15", "7", "31"], n, p=[0.4, 0.3, 0.2, 0.1])
    stats = ("topk_confidence", "entropy", "self_certainty")
    return [
        Rollout(
            reasoning(rng, characters),
            tuple(range(tokens)),
            (-rng.exponential(0.3, tokens)).astype(np.float32),
            str(answer),
            token_stats={name: rng.uniform(0, 14, tokens).astype(np.float32) for name in stats},
            step_ends=(*range(max(1, tokens // 20), tokens, max(1, tokens // 20)), tokens),
        )
        for answer in answers
    ]


def form(rule: Rule, held: list[Rollout]) -> RolloutGroup:
    """Signals and classes of one question, as the loop forms them; judgements are at hand."""
    ids: dict[str | None, int] = {}
    classes = np.array([ids.setdefault(r.answer, len(ids)) for r in held], dtype=np.int64)
    made = signals.compute(rule.needs, held)
    if "judge_score" in rule.needs:
        made |= {"judge_score": np.full(len(held), 7.0), "judge_fits": np.ones(len(held), bool)}
    return RolloutGroup(Question("q", "?"), tuple(held), classes, made)


def reference_core(held: list[Rollout], classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """CoRE as one would write it with scikit-learn and numpy: (cosine, rewards)."""
    vectors = TfidfVectorizer(analyzer="char", ngram_range=(4, 4)).fit_transform([r.text for r in held])
    cosine = (vectors @ vectors.T).toarray()
    c = np.array([r.logprobs.mean(dtype=np.float64) for r in held])
    a = (classes[:, None] == classes) * (0.1 + 0.9 * (1 + cosine) / 2)
    np.fill_diagonal(a, 0)
    root = np.exp((c - c.max()) / 0.5)
    w = a * np.outer(root, root) - 0.1 * np.eye(len(held)) + 0.1
    x = np.full(len(held), 1 / len(held))
    for _ in range(200):
        support = w @ x
        new = x * support / (x @ support)
        moved, x = np.linalg.norm(new - x), new
        if moved < 1e-6:
            break
    return cosine, a @ x / (a @ x).max()


def cpu_seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """The least processor time of several calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def first_call(cache: str) -> float:
    """Wall-clock seconds from a fresh process's first similarity to its end, compiler included where the cache is empty."""
    code = (
        "import time; from ttrlab.signals.similarity import tfidf_cosine; s = time.perf_counter();"
        "tfidf_cosine(['some text', 'another']); print(time.perf_counter() - s)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": cache}, capture_output=True, text=True, check=True
    )
    return float(run.stdout)


def against_scikit_learn(rng: np.random.Generator) -> None:
    """CoRE on 64 texts of 8,000 characters, ours and the reference in one run."""
    held, rule = rollouts(rng, N, CHARACTERS, TOKENS), Core()
    classes = form(rule, held).answer_class
    cosine, rewards = reference_core(held, classes)
    error = np.abs(tfidf_cosine([r.text for r in held]) - cosine).max()
    reward_error = np.abs(rule(form(rule, held)).rewards - np.where(rewards < 1e-5, 0, rewards)).max()
    theirs, ours = cpu_seconds(lambda: reference_core(held, classes), 3), cpu_seconds(lambda: rule(form(rule, held)))
    print(
        f"CoRE, {N} texts of {CHARACTERS} characters: reference {1e3 * theirs:.1f} ms, "
        f"ours {1e3 * ours:.1f} ms, {theirs / ours:.1f} x faster"
    )
    print(f"largest error of the similarity {error:.1e}, of a reward {reward_error:.1e}")
    assert error <= 1e-12, f"the similarity differs from scikit-learn's by {error}"
    assert theirs / ours >= 10, f"only {theirs / ours:.1f} x faster than the reference"


def shares_of_a_step(rng: np.random.Generator) -> None:
    """Every rule with all that it needs computed, on all questions of a step, as a share of the step."""
    steps = {"177 s step": PAPER, "1.0 s lab step": LAB}
    held = {
        name: [rollouts(rng, step["votes"], step["characters"], step["tokens"]) for _ in range(step["questions"])]
        for name, step in steps.items()
    }
    print(f"\n{'rule':16s}" + "".join(f"{f'ms a question, {name}':>32s}{'share':>10s}" for name in steps))
    for kind in get_args(get_args(RewardRule)[0]):
        rule = kind()
        if not rule.needs_gold:
            line = f"{rule.rule:16s}"
            for name, step in steps.items():
                cost = cpu_seconds(lambda rule=rule, name=name: rule.decide_all([form(rule, group) for group in held[name]]), 2)
                line += f"{1e3 * cost / step['questions']:32.2f}{100 * cost / step['seconds']:8.2f} %"
            print(line)


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = first_call(cache), first_call(cache)
    print(f"first similarity of a process: {cold:.2f} s with an empty compiler cache, {warm:.2f} s afterwards")
    against_scikit_learn(rng)
    shares_of_a_step(rng)


if __name__ == "__main__":
    main()
