"""A loaded benchmark, and its two files: questions, which every stage may read, and gold, which is read only through this module."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttrlab.files import digest, read_jsonl, write_json, write_jsonl
from ttrlab.types import Question

Tags = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold answer of one question, as published, and its tags (``level``, ``subject``, ``regime``)."""

    answer: str
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Questions in the order of their source, with ``gold`` (id -> answer) and ``tags`` (id -> name -> value) of each.

    ``parts``: part name -> ids in the order drawn, where the benchmark is one part of a seeded split; empty otherwise.
    """

    questions: tuple[Question, ...]
    gold: dict[str, str]
    tags: dict[str, dict[str, str | int]]
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ids = [question.id for question in self.questions]
        if len(set(ids)) != len(ids):
            raise ValueError(f"ids must be unique, doubled: {sorted({i for i in ids if ids.count(i) > 1})}")
        for name, given in (("gold", self.gold), ("tags", self.tags)):
            if given.keys() != set(ids):
                raise ValueError(f"{name} must have exactly the questions' ids, differing: {sorted(given.keys() ^ set(ids))[:5]}")


def write_benchmark(loaded: Loaded, questions_path: Path, gold_path: Path) -> None:
    """Write {"id", "prompt"} rows and {"id", "answer", "tags"} rows, each file atomically, in the same order.

    The bytes of the questions file, and so its hash, depend on the questions alone.
    """
    write_jsonl(questions_path, ({"id": question.id, "prompt": question.prompt} for question in loaded.questions))
    write_jsonl(
        gold_path,
        ({"id": question.id, "answer": loaded.gold[question.id], "tags": loaded.tags[question.id]} for question in loaded.questions),
    )


def write_split(loaded: Loaded, path: Path) -> None:
    """Write which ids each part of the seeded split has, with a SHA-256 of each list; ValueError for a benchmark without a split."""
    if not loaded.parts:
        raise ValueError(f"{path}: this benchmark is no part of a split, so there is nothing to write")
    write_json(path, {part: {"ids": list(ids), "sha256": digest(list(ids))} for part, ids in loaded.parts.items()})


def read_questions(path: Path) -> tuple[Question, ...]:
    """The questions that ``write_benchmark`` wrote; ValueError names the file and row of anything else, a gold field included."""
    return tuple(Question(id=row["id"], prompt=row["prompt"]) for row in _read_rows(path, {"id": str, "prompt": str}))


def read_gold(path: Path) -> dict[str, Gold]:
    """Gold by question id, as ``write_benchmark`` wrote it; ValueError names the file and row of anything else."""
    rows = _read_rows(path, {"id": str, "answer": str, "tags": dict})
    return {row["id"]: Gold(answer=row["answer"], tags=row["tags"]) for row in rows}


def _read_rows(path: Path, fields: Mapping[str, type]) -> list[dict[str, Any]]:
    """Rows with exactly ``fields``, each of its type and with an id of its own; ValueError names the file and row otherwise."""
    rows: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for number, row in enumerate(read_jsonl(path), start=1):
        if not isinstance(row, dict) or row.keys() != fields.keys():
            given = sorted(row) if isinstance(row, dict) else type(row).__name__
            raise ValueError(f"{path}, row {number}: expected the keys {sorted(fields)}, got {given}")
        for name, kind in fields.items():
            if not isinstance(row[name], kind):
                raise ValueError(f"{path}, row {number}, {name!r}: expected {kind.__name__}, got {type(row[name]).__name__}")
        if row["id"] in seen:
            raise ValueError(f"{path}, row {number}, 'id': {row['id']!r} stands already in row {seen[row['id']]}")
        seen[row["id"]] = number
        rows.append(row)
    if not rows:
        raise ValueError(f"{path}: no rows")
    return rows
