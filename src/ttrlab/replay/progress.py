"""Streams of lines that survive a kill: each grows in a file of its own, and a small record says how much of it counts.

DIR/progress/<stream>.jsonl   grows batch by batch
DIR/progress/<stream>.json    identity, batches and bytes that are safe, and for a finished stream its SHA-256
DIR/decisions/<method>.jsonl, DIR/visits.jsonl, ...   where a finished stream is moved
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ttrlab.files import digest, read_json, sha256, sync_directory, write_json
from ttrlab.provenance import ROOT, code_digest

DECIDING = (
    *("advantage.py", "pools.py", "seeds.py", "types.py", "evaluate/metrics.py"),
    *("adapt/*.py", "consensus/*.py", "grading/*.py", "rectifier/*.py", "rewards/*.py", "signals/*.py"),
    *(f"replay/{name}.py" for name in ("deciding", "fields", "groups", "importers", "prompts", "rows")),
)
"""The code that decisions depend on."""


def deciding_code() -> str:
    """A digest of the code that decisions depend on, comments aside: decisions of other code are made anew."""
    return digest({str(path.relative_to(ROOT)): code_digest(path) for pattern in DECIDING for path in sorted(ROOT.glob(pattern))})


@dataclass
class Stream:
    """One growing file. Open it, ``add`` batches in order, ``save`` now and then, ``finish``.

    ``done``: batches that are safely on disk; what a kill left beyond them is cut off.
    """

    name: str
    folder: Path
    target: Path
    identity: str
    done: int = 0
    finished: bool = False
    _size: int = field(default=0, repr=False)
    _handle: IO[bytes] | None = field(default=None, repr=False)

    def open(self) -> None:
        """Find out what is there; anything of another identity, or not as it was recorded, is begun anew."""
        self.folder.mkdir(parents=True, exist_ok=True)
        record = read_json(self._record) if self._record.is_file() else None
        if not _is_of(record, self.identity):
            record = None
        if record is not None and record["sha256"] is not None:
            if self._is_whole(record["sha256"]):
                self.done, self.finished = record["batches"], True
                return
            record = None
        growing = record is not None and self._growing.is_file() and self._growing.stat().st_size >= record["bytes"]
        self._handle = open(self._growing, "r+b" if growing else "wb")  # noqa: SIM115
        if growing and record is not None:
            self._handle.truncate(record["bytes"])
            self._handle.seek(0, os.SEEK_END)
            self.done, self._size = record["batches"], record["bytes"]

    def _is_whole(self, checksum: str) -> bool:
        """True when the finished file is there; a kill may have come just before it was moved."""
        if self._growing.is_file() and sha256(self._growing) == checksum:
            self._move()
        return self.target.is_file() and sha256(self.target) == checksum

    def add(self, lines: Iterable[str]) -> None:
        """Append the lines of the next batch."""
        handle = self._open_handle()
        handle.writelines(line.encode() for line in lines)
        self.done, self._size = self.done + 1, handle.tell()

    def save(self) -> None:
        """Make what was added safe."""
        handle = self._open_handle()
        handle.flush()
        os.fsync(handle.fileno())
        self._write(None)

    def finish(self) -> None:
        """Make the stream safe and move it to its target."""
        self.save()
        self._open_handle().close()
        self._write(sha256(self._growing))
        self._move()
        self.finished = True

    def _move(self) -> None:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(self._growing, self.target)
        sync_directory(self.target.parent)

    def close(self) -> None:
        """Make safe what an interrupted run has added, and let go of the file."""
        if self._handle is not None and not self._handle.closed:
            self.save()
            self._handle.close()

    @property
    def _record(self) -> Path:
        return self.folder / f"{self.name}.json"

    @property
    def _growing(self) -> Path:
        return self.folder / f"{self.name}.jsonl"

    def _open_handle(self) -> IO[bytes]:
        if self._handle is None:
            raise RuntimeError(f"stream {self.name!r} is not open for writing")
        return self._handle

    def _write(self, checksum: str | None) -> None:
        write_json(self._record, {"identity": self.identity, "batches": self.done, "bytes": self._size, "sha256": checksum})


def _is_of(record: Any, identity: str) -> bool:
    return isinstance(record, Mapping) and record.keys() == {"identity", "batches", "bytes", "sha256"} and record["identity"] == identity
