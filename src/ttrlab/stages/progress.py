"""What state every job of a study is in, read from what jobs leave behind: results, journals, logs. A kill leaves no lie there."""

import socket
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil

from ttrlab.adapt.schedule import total_steps
from ttrlab.config.study import Plan
from ttrlab.files import read_jsonl
from ttrlab.meter import JOURNAL
from ttrlab.stages.plan import Jobs

State = Literal["done", "running", "stuck", "killed", "stopped", "failed", "waiting"]
PATIENCE_SECONDS = 600
"""A running job without a sign of life is called stuck after this long, or after 20 times its longest phase so far."""
LONGEST = 20
UNKNOWN_SECONDS = 4 * 3600
"""The same before its first long phase has ended."""
LOG_LINES = 5


@dataclass(frozen=True)
class Job:
    """One job. ``place``: cell or name of what is shared. ``detail``: how far it is, or why it is not further. ``log``: last lines.

    ``steps``: of an adaptation, 0 for other jobs. ``rows``: its journal.
    """

    place: str
    stage: str
    state: State
    detail: str = ""
    log: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    steps: int = 0


def jobs_of(plan: Plan, results: Path) -> Iterator[Job]:
    """Every job of the study except those that only join tables."""
    jobs = Jobs(plan, str(results))
    for benchmark in sorted({benchmark for _, benchmark in plan.study.model_benchmarks}):
        folder = results / "data" / benchmark
        yield job_of(f"data/{benchmark}", "prepare", [folder / "manifest.json"], folder, results / "logs" / "prepare" / f"{benchmark}.log")
    for name, entry in plan.catalogue.models.items():
        if entry.source == "lab":
            folder = results / "models" / name
            yield job_of(f"models/{name}", "pretrain", [folder / "manifest.json"], folder, results / "logs" / "pretrain" / f"{name}.log")
    for cell in plan.cells:
        folder, last = Path(jobs.folder(cell)), 0
        wanted = {"evaluate": ["evaluate/rollouts.jsonl.gz", "evaluate/greedy.jsonl.gz"], "score": ["scores.csv", "questions.csv"]}
        if jobs.adapted(cell):
            wanted = {"adapt": ["adapt/manifest.json"], **wanted, "audit": ["audit.csv"]}
            last = total_steps(plan.benchmark(cell).rows, plan.training(cell))
        if jobs.curve_steps(cell):
            wanted["curve"] = ["curve/rollouts.jsonl.gz", "curve/greedy.jsonl.gz"]
        for stage, files in wanted.items():
            paths = [folder / file for file in files]
            yield job_of(cell.path, stage, paths, folder / stage, folder / "logs" / f"{stage}.log", last if stage == "adapt" else 0)


def job_of(place: str, stage: str, outputs: Sequence[Path], folder: Path, log: Path, steps: int = 0) -> Job:
    """One job and its state, from its ``outputs``, the journal in its ``folder`` and its ``log``. ``steps``: of an adaptation."""
    journal = folder / JOURNAL
    rows = tuple(read_jsonl(journal)) if journal.is_file() else ()

    def job(state: State, detail: str = "", log: tuple[str, ...] = ()) -> Job:
        return Job(place, stage, state, detail, log, rows, steps)

    if all(path.is_file() for path in outputs):
        return job("done")
    lines = last_lines(log)
    if not rows:
        failed = bool(lines) and "error" in lines[-1].lower()
        return job("failed", lines[-1], lines) if failed else job("waiting")
    events = [row for row in rows if "event" in row and row["event"] != "devices"]
    attempt = [row for row in rows if row["attempt"] == rows[-1]["attempt"]]
    if events[-1]["event"] == "begin":
        state, detail = _alive(attempt, time.time() - journal.stat().st_mtime)
        return job(state, f"{_reached(rows, steps)}{detail}", lines if state == "killed" else ())
    error = events[-1]["error"]
    if error is None:
        return job("waiting", "its results were removed")
    stopped = "stopped by SIG" in error or error.startswith("KeyboardInterrupt")
    return job("stopped" if stopped else "failed", error.strip().splitlines()[0], () if stopped else lines)


def _alive(attempt: Sequence[dict[str, Any]], age: float) -> tuple[State, str]:
    """The state of an attempt that has not ended, ``age`` seconds after its last line."""
    begin = next(row for row in attempt if row.get("event") == "begin")
    where = f"process {begin['pid']} on {begin['host']}"
    if begin["host"] == socket.gethostname() and not _lives(begin["pid"], begin["started"]):
        return "killed", f"{where} is gone; its last sign of life is {span(age)} old"
    phases = [row["wall"] for row in attempt if "phase" in row and row["phase"] not in ("start", "import", "load")]
    limit = max(PATIENCE_SECONDS, LONGEST * max(phases)) if phases else UNKNOWN_SECONDS
    return "stuck" if age > limit else "running", f"{where}, last sign of life {span(age)} ago"


def _lives(pid: int, started: float) -> bool:
    """True when the process that the journal names still runs: a number that was given to another process does not count."""
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _reached(rows: Sequence[dict[str, Any]], steps: int) -> str:
    """How far an adaptation is, and how long its steps take."""
    if not steps:
        return ""
    done = {row["step"] for row in rows if row.get("phase") == "write"}
    seconds: dict[int, float] = {}
    for row in rows:
        if "phase" in row and row["step"] in done:
            seconds[row["step"]] = seconds.get(row["step"], 0.0) + row["wall"]
    pace = f", {statistics.median(seconds.values()):.2g} s a step" if seconds else ""
    return f"step {max(done, default=0)} of {steps}{pace}; "


def last_lines(log: Path) -> tuple[str, ...]:
    """The last lines of a log that say something; none where there is no log."""
    if not log.is_file():
        return ()
    lines = log.read_text(encoding="utf-8", errors="replace").replace("\r", "\n").splitlines()
    return tuple(line for line in lines if line.strip())[-LOG_LINES:]


def span(seconds: float) -> str:
    """A duration as a person says it."""
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
