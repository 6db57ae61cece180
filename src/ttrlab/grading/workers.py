"""Processes that prove equalities: started once, limited in memory and CPU, killed and replaced by the parent when late.

A worker is ``python -m ttrlab.grading.prover`` behind two pipes, so it needs no fork of the parent, no signal, no main guard: it
works from threads, event loops and actors, on Linux and macOS. The clock of a question starts when a ready worker gets it.
"""

import atexit
import os
import queue
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO

START_SECONDS = 30.0
"""Limit for a worker to import its library and say that it is ready."""
SIZE = 2


class Worker:
    """One process; ``ask`` either answers in time or leaves the process dead."""

    def __init__(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ttrlab.grading.prover"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, start_new_session=True,
        )  # fmt: skip
        self.ready = False
        self.took = 0.0

    def ask(self, question: str, seconds: float) -> str | None:
        """The answer to one line, or None when the worker is dead or later than ``seconds`` after it was ready."""
        if not self.ready:
            if self._line(START_SECONDS) is None:
                return None
            self.ready = True
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(question.encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            return None
        start = time.monotonic()
        line = self._line(seconds)
        self.took = time.monotonic() - start
        return line

    def _line(self, seconds: float) -> str | None:
        stdout: IO[bytes] | None = self.process.stdout
        assert stdout is not None
        poller = select.poll()
        poller.register(stdout, select.POLLIN | select.POLLHUP)
        if not poller.poll(seconds * 1000):
            return None
        line = stdout.readline()
        return line.decode() if line.endswith(b"\n") else None

    def kill(self) -> None:
        """End the process and reap it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


class Pool:
    """At most SIZE workers, started when first needed and kept; a late one is killed and its place is free again."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.places: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(SIZE):
            self.places.put(None)

    def ask(self, question: str, seconds: float) -> tuple[str | None, float]:
        """The answer, or None when it did not come within ``seconds``, and the seconds that it took."""
        worker = self.places.get() or Worker()
        answer: str | None = None
        try:
            answer = worker.ask(question, seconds)
        finally:
            if answer is None:
                worker.kill()
            self.places.put(None if answer is None else worker)
        return answer, worker.took

    def close(self) -> None:
        """End all idle workers."""
        while not self.places.empty():
            worker = self.places.get()
            if worker is not None:
                worker.kill()


_lock = threading.Lock()
_pools: dict[int, Pool] = {}


def pool() -> Pool:
    """The pool of this process; a forked child gets its own and leaves its parent's alone."""
    with _lock:
        if os.getpid() not in _pools:
            _pools.clear()
            _pools[os.getpid()] = Pool()
        return _pools[os.getpid()]


def shutdown() -> None:
    """End the workers of this process; the next question starts new ones."""
    with _lock:
        found = _pools.pop(os.getpid(), None)
    if found is not None:
        found.close()


os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]
atexit.register(shutdown)
