"""The lab's benchmarks: questions with known truth, mixed from regimes."""

from collections.abc import Mapping

from ttrlab.benchmarks.lab.world import (
    CALIBRATION_SUMS,
    CALIBRATION_TOPICS,
    FIT_SUMS,
    FIT_TOPICS,
    TARGET_SUMS,
    TARGET_TOPICS,
    TOPICS,
    Sum,
    question_text,
)
from ttrlab.config.lab import LabBenchmark
from ttrlab.seeds import rng
from ttrlab.types import Question

__all__ = ["questions"]

PARTS: Mapping[str, tuple[tuple[Sum, ...], range]] = {
    "target": (TARGET_SUMS, TARGET_TOPICS),
    "fit": (FIT_SUMS, FIT_TOPICS),
    "calibration": (CALIBRATION_SUMS, CALIBRATION_TOPICS),
}
"""Sums and topics of each part."""


def questions(benchmark: LabBenchmark) -> list[tuple[Question, str, dict[str, str | int]]]:
    """(question, gold answer, tags) in the order of the mix. The tag ``regime`` is for evaluation; no prompt names it.

    ValueError when the mix asks for more questions than the part has sums.
    """
    sums, topics = PARTS[benchmark.part]
    wanted = [regime for regime, count in benchmark.mix.items() for _ in range(count)]
    if len(wanted) > len(sums):
        raise ValueError(f"mix asks for {len(wanted)} questions, the lab's {benchmark.part} part has {len(sums)} sums")
    order = rng(benchmark.seed, "lab", "questions").permutation(len(sums))
    prefix = "lab" if benchmark.part == "target" else f"lab-{benchmark.part}"
    rows: list[tuple[Question, str, dict[str, str | int]]] = []
    for number, regime in enumerate(wanted):
        total = sums[order[number]]
        topic = TOPICS[regime][topics[number % len(topics)]]
        tags: dict[str, str | int] = {"regime": regime}
        rows.append((Question(f"{prefix}/{number:03d}", question_text(topic, total)), str(total.right), tags))
    return rows
