"""Classes of one group of 64 answers: this grader against math-verify over all pairs, and both on the development cases.

Run: python bench/bench_grading.py [EQUIVALENCE.jsonl]
"""

import importlib.metadata
import json
import logging
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import math_verify

from ttrlab.grading import Verdict, classes, equal

CASES = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared" / "cases" / "equivalence.jsonl"
PEER_PAIRS = 12
"""Pairs of different expressions that the peer is timed on; all 2016 take minutes."""


def identical() -> list[str]:
    return ["204"] * 64


def fractions() -> list[str]:
    """64 answers: 10 fractions in 38 spellings."""
    spelled = []
    for n in range(1, 20, 2):
        spelled += [f"\\frac{{{n}}}{{16}}", f"{n}/16", f"\\dfrac{{{2 * n}}}{{32}}", str(n / 16)]
    return (spelled[:38] * 2)[:64]


def expressions() -> list[str]:
    return [f"\\frac{{\\sqrt{{{n + 2}}}+{n}x^{1 + n % 5}}}{{{n + 1}-\\sin({n}y)}}" for n in range(64)]


def cpu() -> float:
    """CPU seconds of this process and its ended children."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def seconds(work: Callable[[], object]) -> float:
    start = cpu()
    work()
    return cpu() - start


def cold(group: str) -> float:
    """CPU seconds of a first call, in a fresh process, imports aside."""
    code = (
        "import time, bench_grading as b\n"
        f"group = b.{group}()\nstart = time.process_time()\nb.classes(group)\nprint(time.process_time() - start)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    return float(done.stdout)


def peer_pairs(answers: Sequence[str], limit: int | None = None) -> float:
    """CPU seconds of math-verify over all pairs, each answer parsed once; with a limit, of the first pairs scaled up."""
    start = cpu()
    parsed = [math_verify.parse(f"${a}$" if "$" not in a else a, parsing_timeout=None) for a in answers]
    parsing = cpu() - start
    pairs = [(i, j) for i in range(len(answers)) for j in range(i)]
    chosen = pairs if limit is None else pairs[:: len(pairs) // limit][:limit]
    start = cpu()
    for i, j in chosen:
        math_verify.verify(parsed[i], parsed[j], timeout_seconds=None)
    return parsing + (cpu() - start) * len(pairs) / len(chosen)


def accuracy() -> None:
    """Share of the development cases that each grader gets right."""
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    ours = sum(equal(r["a"], r["b"]) is (Verdict.YES if r["equal"] else Verdict.NO) for r in rows)
    theirs = sum(math_verify.verify(math_verify.parse(f"${r['a']}$"), math_verify.parse(f"${r['b']}$")) == r["equal"] for r in rows)
    print(f"development cases right: ours {ours}/{len(rows)}, math-verify {theirs}/{len(rows)}")


def main() -> None:
    logging.disable(logging.CRITICAL)
    print(f"math-verify {importlib.metadata.version('math-verify')}, CPU seconds a group of 64")
    limits = {"identical": None, "fractions": None, "expressions": PEER_PAIRS}
    for name, make in (("identical", identical), ("fractions", fractions), ("expressions", expressions)):
        group = make()
        first = cold(name)
        classes(group)
        warm = min(seconds(lambda group=group: [classes(group) for _ in range(20)]) / 20 for _ in range(3))
        peer = peer_pairs(group, limits[name])
        print(
            f"{name:12s} cold {first:.5f}  warm {warm:.5f}  math-verify {peer:.3f}  ratio cold {peer / first:8.0f}  warm {peer / warm:8.0f}"
        )
        assert peer / first >= 50 or name == "expressions", f"{name}: below 50 times the peer's speed"
    assert first < 4, f"64 different expressions took {first:.1f} CPU seconds cold"
    assert warm < 0.005, f"64 different expressions took {1e3 * warm:.1f} ms warm"
    if CASES.exists():
        accuracy()


if __name__ == "__main__":
    main()
