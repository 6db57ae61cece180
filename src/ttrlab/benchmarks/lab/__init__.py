"""The lab's benchmarks: questions with known truth, mixed from regimes."""

from ttrlab.benchmarks.lab.world import SOURCE_SUMS, SOURCE_TOPICS, TARGET_SUMS, TARGET_TOPICS, TOPICS, Sum, question_text
from ttrlab.config.lab import LabBenchmark
from ttrlab.seeds import rng
from ttrlab.types import Question

__all__ = ["questions", "source_questions"]


def questions(benchmark: LabBenchmark) -> list[tuple[Question, str, dict[str, str | int]]]:
    """(question, gold answer, tags) in the order of the mix. The tag ``regime`` is for evaluation; no prompt names it.

    ValueError when the mix asks for more questions than there are held-out sums.
    """
    return _questions(benchmark, TARGET_SUMS, TARGET_TOPICS)


def source_questions(benchmark: LabBenchmark) -> list[tuple[Question, str, dict[str, str | int]]]:
    """As ``questions``, from the sums and topics that are kept for a judge's labelled source set."""
    return _questions(benchmark, SOURCE_SUMS, SOURCE_TOPICS)


def _questions(benchmark: LabBenchmark, sums: tuple[Sum, ...], topics: range) -> list[tuple[Question, str, dict[str, str | int]]]:
    wanted = [regime for regime, count in benchmark.mix.items() for _ in range(count)]
    if len(wanted) > len(sums):
        raise ValueError(f"mix asks for {len(wanted)} questions, the lab holds out {len(sums)} sums")
    order = rng(benchmark.seed, "lab", "questions").permutation(len(sums))
    rows: list[tuple[Question, str, dict[str, str | int]]] = []
    for number, regime in enumerate(wanted):
        total = sums[order[number]]
        topic = TOPICS[regime][topics[number % len(topics)]]
        tags: dict[str, str | int] = {"regime": regime}
        rows.append((Question(f"lab/{number:03d}", question_text(topic, total)), str(total.right), tags))
    return rows
