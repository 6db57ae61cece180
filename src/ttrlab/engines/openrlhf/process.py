"""OpenRLHF's process: started, watched, stopped; it never outlives the one that started it."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

POLL_SECONDS = 2.0
STOP_SECONDS = 30.0
"""How long OpenRLHF may take to end when asked; it keeps nothing that its last save does not have."""
_PR_SET_PDEATHSIG = 1


def run(command: Sequence[str], log: Path, tick: Callable[[], bool], surroundings: Mapping[str, str] | None = None) -> None:
    """Run to the end, output appended to ``log``; ``tick`` is called every few seconds and returns True to stop.

    ``surroundings`` are added to the environment.

    A ``python`` in front stands for the interpreter that runs here. RuntimeError with the log's last lines when OpenRLHF fails.
    """
    words = [sys.executable, *command[1:]] if command[0] == "python" else list(command)
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "ab") as output:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=_die_with_parent, env={**os.environ, "PYTHONUNBUFFERED": "1", **(surroundings or {})},
        )  # fmt: skip
    try:
        while process.poll() is None:
            time.sleep(POLL_SECONDS)
            if tick():
                return
    finally:
        stop(process)
    if process.returncode:
        raise RuntimeError(f"OpenRLHF ended with exit code {process.returncode}; {log} ends with:\n{last_lines(log, 25)}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the process and its session: asked first, then killed."""
    for number, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, STOP_SECONDS)):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue


def last_lines(path: Path, number: int) -> str:
    """The last lines of a text file."""
    with open(path, encoding="utf-8", errors="replace") as handle:
        return "".join(deque(handle, maxlen=number))


def _die_with_parent() -> None:
    """Linux: the kernel kills this process when its parent dies, however that dies; Ray's processes end with their driver."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
