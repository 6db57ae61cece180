"""What a job spends: wall-clock and CPU seconds by phase, written as they are spent, so that a killed attempt's work is counted too.

<folder>/cost.jsonl   a journal: one line when an attempt begins, one a finished phase, one when the attempt ends
<folder>/cost.json    its sum, written when the job ends well; work that a later attempt did again is ``discarded``

What a kill interrupts is missing from the sum: at most one phase of one step an attempt.
"""

import os
import platform
import resource
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from ttrlab.files import dumps, read_jsonl, write_json

JOURNAL, SUMMARY = "cost.jsonl", "cost.json"
START = "start"
"""The phase before the meter runs: the process starts and imports its libraries."""


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def children_cpu_seconds() -> float:
    """CPU seconds of the children that still live, such as the grader's workers."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue  # it ended meanwhile, and counts as ended
        total += times.user + times.system
    return total


@dataclass(frozen=True)
class Meter:
    """Appends to a journal; without one it only runs the blocks."""

    journal: Path | None = None
    attempt: int = 0

    def line(self, row: Mapping[str, Any]) -> None:
        """Append one row in one write, which a kill cannot tear."""
        if self.journal is None:
            return
        descriptor = os.open(self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, dumps({"attempt": self.attempt, **row}).encode() + b"\n")
        finally:
            os.close(descriptor)

    def spent(self, phase: str, step: int, wall: float, cpu: float, counts: Mapping[str, int]) -> None:
        """Append a finished phase; seconds to the millisecond."""
        self.line({"phase": phase, "step": step, "wall": round(wall, 3), "cpu": round(cpu, 3), **counts})

    @contextmanager
    def phase(self, name: str, step: int = 0) -> Iterator[dict[str, int]]:
        """Measure the block. What it puts into the yielded mapping (``tokens``, ``rollouts``) is written beside the seconds."""
        counts: dict[str, int] = {}
        wall, cpu = time.perf_counter(), cpu_seconds()
        try:
            yield counts
        finally:
            self.spent(name, step, time.perf_counter() - wall, cpu_seconds() - cpu, counts)

    def devices(self, names: Sequence[str]) -> None:
        """Note the accelerators that the job holds, once it holds them."""
        self.line({"event": "devices", "devices": list(names)})


@contextmanager
def metered(folder: Path, stage: str, identity: str) -> Iterator[Meter]:
    """A meter for one attempt at the job that works in ``folder``; sums the journal up when the block ends well.

    ``identity``: digest of the job's spec; the journal of another job that worked there is replaced.
    """
    journal = folder / JOURNAL
    folder.mkdir(parents=True, exist_ok=True)
    before = list(read_jsonl(journal)) if journal.exists() else []
    if before and before[0]["identity"] != identity:
        journal.unlink()
        before = []
    meter = Meter(journal, before[-1]["attempt"] + 1 if before else 1)
    process = psutil.Process()
    meter.line({"event": "begin", "stage": stage, "identity": identity, "at": time.time(), **_where(process)})
    meter.spent(START, 0, time.time() - process.create_time(), cpu_seconds(), {})
    try:
        yield meter
    except BaseException as error:
        meter.line({"event": "end", "at": time.time(), "error": f"{type(error).__name__}: {error}"})
        raise
    meter.spent("workers", 0, 0.0, children_cpu_seconds(), {})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    meter.line({"event": "end", "at": time.time(), "error": None, "peak_rss_mb": round(peak, 1)})
    write_json(folder / SUMMARY, summary(read_jsonl(journal)))


def _where(process: psutil.Process) -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "pid": process.pid,
        "started": process.create_time(),
        "processor": platform.processor() or platform.machine(),
        "cores": psutil.cpu_count(),
    }


def summary(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Seconds and counts by phase. Of equal (phase, step) the last line counts, earlier ones are discarded work."""
    found = list(rows)
    begins = [row for row in found if row.get("event") == "begin"]
    devices = [row["devices"] for row in found if row.get("event") == "devices"]
    ends = [row for row in found if row.get("event") == "end" and row["error"] is None]
    spent = [row for row in found if "phase" in row]
    last = {(row["phase"], row["step"]): number for number, row in enumerate(spent)}
    phases: dict[str, dict[str, float]] = {}
    for number, row in enumerate(spent):
        phase = phases.setdefault(row["phase"], {"wall": 0.0, "cpu": 0.0, "discarded_wall": 0.0, "discarded_cpu": 0.0})
        kept = last[row["phase"], row["step"]] == number
        for name in row.keys() - {"attempt", "phase", "step"}:
            if kept or name in ("wall", "cpu"):
                key = name if kept else f"discarded_{name}"
                phase[key] = round(phase.get(key, 0) + row[name], 3)
    return {
        "stage": begins[-1]["stage"],
        "identity": begins[-1]["identity"],
        "attempts": len(begins),
        "devices": devices[-1] if devices else [],
        "processor": begins[-1]["processor"],
        "cores": begins[-1]["cores"],
        "peak_rss_mb": max((row["peak_rss_mb"] for row in ends), default=None),
        "phases": phases,
    }
