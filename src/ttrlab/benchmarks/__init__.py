"""Benchmarks: from a hub id, a file or the lab's generator to questions in one file and gold in another."""

from ttrlab.benchmarks.load import load_benchmark
from ttrlab.benchmarks.overlap import Overlap, overlaps, require_disjoint
from ttrlab.benchmarks.store import Gold, Loaded, Tags, read_gold, read_questions, write_benchmark, write_split

__all__ = [
    "Gold",
    "Loaded",
    "Overlap",
    "Tags",
    "load_benchmark",
    "overlaps",
    "read_gold",
    "read_questions",
    "require_disjoint",
    "write_benchmark",
    "write_split",
]
