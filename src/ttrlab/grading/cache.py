"""Proofs on disk, shared by several jobs: each process appends whole lines to a file of its own and reads the files of all.

A line is ``[digest, verdict, reason]``. Files carry the grammar's version in their names, so that another version's are not read.
"""

import json
import os
import socket
import threading
from hashlib import sha256
from pathlib import Path

from ttrlab.grading.limits import GRAMMAR
from ttrlab.grading.verdict import Verdict


class ProofCache:
    """Verdicts by question, in memory and in ``folder``. A torn last line, left by a killed job, is passed over."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.known: dict[str, tuple[Verdict, str]] = {}
        self.lock = threading.Lock()
        for path in sorted(self.folder.glob(f"proofs-{GRAMMAR}-*.jsonl")):
            self._load(path)

    def _load(self, path: Path) -> None:
        for line in path.read_bytes().split(b"\n")[:-1]:
            try:
                digest, verdict, reason = json.loads(line)
                self.known[digest] = Verdict(verdict), reason
            except ValueError:
                continue  # a line cut by a full disk or a killed job; the proof is made again

    def get(self, question: str) -> tuple[Verdict, str] | None:
        """The stored verdict, or None."""
        return self.known.get(_digest(question))

    def put(self, question: str, verdict: tuple[Verdict, str]) -> None:
        """Store a verdict: one write of one whole line, opened for appending, to this process's file."""
        digest = _digest(question)
        line = json.dumps([digest, verdict[0].value, verdict[1]]).encode() + b"\n"
        path = self.folder / f"proofs-{GRAMMAR}-{socket.gethostname()}-{os.getpid()}.jsonl"
        with self.lock, path.open("ab", buffering=0) as handle:
            handle.write(line)
            self.known[digest] = verdict


def _digest(question: str) -> str:
    return sha256(question.encode()).hexdigest()[:32]


_current: list[ProofCache] = []


def use_cache(folder: Path | None) -> None:
    """Keep proofs in ``folder`` from now on; None keeps them in memory alone."""
    _current[:] = [] if folder is None else [ProofCache(folder)]


def current() -> ProofCache | None:
    """The cache in use, or None."""
    return _current[0] if _current else None
