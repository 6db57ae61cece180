"""What a replay costs: 2,880 groups of 32 roll-outs through 8 rules on two processes, and that memory does not grow with the pool.

Run: python bench/bench_replay.py [groups]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench_rewards import OPENINGS, THINGS
from ttrlab.files import write_jsonl
from ttrlab.pools import PoolRow, write_pool
from ttrlab.replay.spec import ReplayMethod, ReplaySpec
from ttrlab.rewards import EC, Cisc, Core, DeepConf, EvolRl, Majority, Rule, Scope, VoteFilter

GROUPS, QUESTIONS, VOTES, BATCH, CHARACTERS = 2880, 370, 32, 32, 2400
RULES: dict[str, Rule] = {
    "majority": Majority(), "vote_margin8": VoteFilter(), "cisc": Cisc(), "deepconf": DeepConf(), "core": Core(), "ec": EC(),
    "scope": Scope(), "evol_rl": EvolRl(),
}  # fmt: skip
SIGNALS = ("mean_logprob", "trace_confidence", "step_confidence")


def answers(draw: np.random.Generator) -> list[str]:
    """Twelve spellings of six answers to one question: fractions, integers, roots or polynomials, as in MATH."""
    a, b = draw.integers(2, 60, 6), draw.integers(2, 9, 6)
    spellings = (
        [(f"\\frac{{{x}}}{{{x + 7}}}", f"\\dfrac{{{x}}}{{{x + 7}}}") for x in a],
        [(f"{x}", f"{x}.0") for x in a],
        [(f"{x}\\sqrt{{{y}}}", f"\\sqrt{{{x * x * y}}}") for x, y in zip(a, b, strict=True)],
        [(f"(x+{x})^2", f"x^2+{2 * x}x+{x * x}") for x in a],
    )
    return [spelling for pair in spellings[int(draw.integers(4))] for spelling in pair]


def text(draw: np.random.Generator, sentences: list[str], answer: str) -> str:
    """A response of about CHARACTERS characters that ends in its boxed answer."""
    chosen = draw.integers(0, len(sentences), CHARACTERS // 60)
    numbers = draw.integers(10, 9999, chosen.size)
    return "\n\n".join(f"{sentences[i]} ${n}$." for i, n in zip(chosen, numbers, strict=True)) + f"\n\n\\boxed{{{answer}}}"


def rows(groups: int) -> Iterator[PoolRow]:
    """A pool of an adaptation: BATCH groups a step."""
    sentences = [f"{opening} {thing}:" for opening in OPENINGS for thing in THINGS]
    for g in range(groups):
        draw = np.random.default_rng(g)
        known = answers(np.random.default_rng(g % QUESTIONS))
        given = draw.choice(known, VOTES, p=[0.15, 0.15, *[0.07] * 10]).tolist()
        yield PoolRow(
            f"q{g % QUESTIONS}", 1 + g // BATCH, g, tuple(text(draw, sentences, a) for a in given), tuple(given),
            (False,) * VOTES, (700,) * VOTES, {name: draw.uniform(0.1, 3, VOTES) for name in SIGNALS},
        )  # fmt: skip


def replayed(folder: Path, groups: int, out: str) -> tuple[float, float, float]:
    """Wall-clock seconds of one replay in a fresh process, and the largest resident memory of it and of its workers, in MB."""
    spec = ReplaySpec(
        study="bench", kind="math", batch=BATCH, methods={name: ReplayMethod(rule=rule, train=VOTES) for name, rule in RULES.items()}
    )
    (folder / "spec.json").write_text(spec.model_dump_json())
    code = (
        "import resource, sys; from ttrlab.stages.replay import main; main();"
        "print(*(resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))"
    )
    options = ["--spec", f"@{folder / 'spec.json'}", "--pool", str(folder / f"pool{groups}"), "--gold", str(folder / "gold.jsonl")]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *options, "--out", str(folder / out), "--jobs", "2"],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    own, workers = map(float, done.stdout.split())
    return time.perf_counter() - start, own, workers


def main() -> None:
    """Print seconds and memory for a tenth of the pool and for the whole of it."""
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else GROUPS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_jsonl(
            folder / "gold.jsonl",
            ({"id": f"q{i}", "answer": answers(np.random.default_rng(i))[0], "tags": {"level": i % 5}} for i in range(370)),
        )
        for size in (groups // 10, groups):
            write_pool(folder / f"pool{size}" / "rollouts.jsonl.gz", rows(size))
            seconds, own, workers = replayed(folder, size, f"out{size}")
            (folder / f"out{size}" / "proofs").rename(folder / "proofs")
            shutil.rmtree(folder / f"out{size}")
            (folder / f"out{size}").mkdir()
            (folder / "proofs").rename(folder / f"out{size}" / "proofs")
            cached, _, _ = replayed(folder, size, f"out{size}")
            again, _, _ = replayed(folder, size, f"out{size}")
            rollouts = json.loads((folder / f"out{size}" / "summary.json").read_text())["pool"]["rollouts"]
            print(
                f"{size} groups, {rollouts} roll-outs, {len(RULES)} rules: cold {seconds:.0f} s, proofs cached {cached:.0f} s, "
                f"finished replay called again {again:.0f} s; "
                f"largest memory {own:.0f} MB, of a worker {workers:.0f} MB"
            )


if __name__ == "__main__":
    main()
