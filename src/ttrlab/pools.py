"""The stored form of roll-outs: one JSON line a question group, read by replay, audit, metrics and the viewer.

A row keeps text, answer and the reduced signals, never gold. Floats survive the round trip to the bit (JSON's shortest repr of
float64), so a rule that reads a pool decides as it did in the loop.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttrlab.files import read_jsonl, write_jsonl

POOL_VERSION = 1


@dataclass(frozen=True, slots=True)
class PoolRow:
    """One group of n roll-outs of one question at one training step (0 = the model as given).

    ``texts``, ``answers``, ``truncated``, ``tokens``: n entries each, in sampling order. ``signals``: name -> (n,) float64 reduced
    per-roll-out numbers (``mean_logprob``, ``trace_confidence``, ...); pairwise signals are recomputed from the texts.
    """

    question_id: str
    step: int
    seed: int
    texts: tuple[str, ...]
    answers: tuple[str | None, ...]
    truncated: tuple[bool, ...]
    tokens: tuple[int, ...]
    signals: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.texts)
        sizes = {
            "answers": len(self.answers),
            "truncated": len(self.truncated),
            "tokens": len(self.tokens),
            **{f"signals.{name}": len(values) for name, values in self.signals.items()},
        }
        wrong = {name: size for name, size in sizes.items() if size != n}
        if n == 0 or wrong:
            raise ValueError(f"pool row of question {self.question_id!r}: {n} texts, but {wrong or 'at least one is needed'}")


def to_json(row: PoolRow) -> dict[str, Any]:
    """The row as a JSON object; a NaN signal becomes null."""
    return {
        "pool": POOL_VERSION,
        "question_id": row.question_id,
        "step": row.step,
        "seed": row.seed,
        "texts": list(row.texts),
        "answers": list(row.answers),
        "truncated": list(row.truncated),
        "tokens": list(row.tokens),
        "signals": {name: [None if np.isnan(v) else float(v) for v in values] for name, values in sorted(row.signals.items())},
    }


def from_json(value: Mapping[str, Any]) -> PoolRow:
    """The row behind a JSON object; ValueError for another version or a missing key."""
    if not isinstance(value, Mapping) or "pool" not in value or value["pool"] != POOL_VERSION:
        raise ValueError(f"not a pool row of version {POOL_VERSION}: {str(value)[:120]}")
    try:
        return PoolRow(
            question_id=value["question_id"],
            step=value["step"],
            seed=value["seed"],
            texts=tuple(value["texts"]),
            answers=tuple(value["answers"]),
            truncated=tuple(value["truncated"]),
            tokens=tuple(value["tokens"]),
            signals={
                name: np.array([np.nan if v is None else v for v in values], dtype=np.float64) for name, values in value["signals"].items()
            },
        )
    except KeyError as error:
        raise ValueError(f"pool row lacks the key {error}; it has {sorted(value)}") from error


def write_pool(path: Path, rows: Iterable[PoolRow]) -> None:
    """Write rows atomically as (gzipped) JSON lines."""
    write_jsonl(path, (to_json(row) for row in rows))


def read_pool(path: Path) -> Iterator[PoolRow]:
    """Yield the rows of a pool file, one at a time; errors name the file and the row."""
    for number, value in enumerate(read_jsonl(path), start=1):
        try:
            yield from_json(value)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}, row {number}: {error}") from error
