"""A pool on disk, line by line: what can be read becomes a row with its place, what cannot becomes a named fault."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttrlab import pools
from ttrlab.pools import PoolRow

ENDINGS = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class Fault:
    """A part of a pool that is left out: the file, the line (1-based), and why."""

    path: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Located:
    """One group of roll-outs with the place of its first line."""

    path: Path
    line: int
    row: PoolRow

    def fault(self, reason: str) -> Fault:
        """What is wrong with this group."""
        return Fault(self.path, self.line, f"question {self.row.question_id!r}, step {self.row.step}: {reason}")


@dataclass(frozen=True, slots=True)
class Line:
    """One JSON object of a file."""

    path: Path
    number: int
    value: dict[str, Any]


def pool_files(pool: Path) -> list[Path]:
    """The files of a pool in reading order: the file itself, or the .jsonl(.gz) files of a folder (of its ``rollouts`` where it has one).

    Numbers in names count as numbers (``10.jsonl`` after ``9.jsonl``). ValueError when there are none.
    """
    if pool.is_file():
        return [pool]
    folder = pool / "rollouts" if (pool / "rollouts").is_dir() else pool
    found = [path for path in folder.glob("*") if path.is_file() and path.name.endswith(ENDINGS) and not path.name.startswith(".")]
    if not found:
        raise ValueError(f"{pool}: no pool; expected a file, or a folder with files ending in {' or '.join(ENDINGS)}")
    return sorted(found, key=lambda path: [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)])


def read_lines(path: Path) -> Iterator[Line | Fault]:
    """Every non-empty line of a file: a JSON object or a fault. Compressed data that ends early is a fault at the line that it cuts."""
    opened = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # noqa: SIM115
    number = 0
    with opened as handle:
        try:
            for number, raw in enumerate(handle, start=1):
                if raw.strip():
                    yield _parse(path, number, raw)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield Fault(path, number + 1, f"the file cannot be read further ({error})")


def _parse(path: Path, number: int, raw: bytes) -> Line | Fault:
    try:
        value = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return Fault(path, number, f"not a JSON line ({error})")
    if not isinstance(value, dict):
        return Fault(path, number, f"expected a JSON object, got {type(value).__name__}")
    return Line(path, number, value)


def pool_rows(lines: Iterator[Line | Fault]) -> Iterator[Located | Fault]:
    """Our own format: a group a line."""
    for line in lines:
        if isinstance(line, Fault):
            yield line
            continue
        try:
            row = pools.from_json(line.value)
            _check_types(row)
        except (ValueError, TypeError, AttributeError) as error:
            yield Fault(line.path, line.number, str(error))
            continue
        yield Located(line.path, line.number, row)


def _check_types(row: PoolRow) -> None:
    """ValueError for a row whose parts have the right length but not the right type."""
    if not isinstance(row.question_id, str) or not row.question_id:
        raise ValueError(f"question_id must be a non-empty text, got {row.question_id!r}")
    for name, number in (("step", row.step), ("seed", row.seed)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise ValueError(f"{name} must be an integer >= 0, got {number!r}")
    checks: tuple[tuple[str, tuple[object, ...], tuple[type, ...]], ...] = (
        ("texts", row.texts, (str,)),
        ("answers", row.answers, (str, type(None))),
        ("truncated", row.truncated, (bool,)),
        ("tokens", row.tokens, (int,)),
    )
    for name, values, kinds in checks:
        wrong = next((i for i, value in enumerate(values) if not isinstance(value, kinds)), None)
        if wrong is not None:
            raise ValueError(f"{name}[{wrong}] is {type(values[wrong]).__name__}, expected {' or '.join(kind.__name__ for kind in kinds)}")
    for name, numbers in row.signals.items():
        if numbers.ndim != 1:
            raise ValueError(f"signal {name!r} has shape {numbers.shape}, expected one number a roll-out")
