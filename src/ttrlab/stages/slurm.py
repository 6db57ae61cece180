"""What the workflow asks of SLURM by its own commands: which jobs belong to a folder, and to end them."""

import subprocess
import time
from pathlib import Path

LOGS = Path("logs/slurm")
"""``slurm-logdir`` of the profile."""

PATIENCE_SECONDS = 180
"""SLURM ends a cancelled job after its KillWait, 30 seconds by default; a node that does not answer takes longer."""


def submitted_from(folder: Path) -> bool:
    """True when a workflow in ``folder`` has ever submitted jobs: then their logs lie where ``profiles/slurm`` wants them."""
    return (folder / LOGS).is_dir()


def ask(*command: str) -> str:
    """The stdout of one of SLURM's commands; RuntimeError with its first complaint when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        complaint = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise RuntimeError(f"{command[0]} failed: {complaint}")
    return done.stdout


def jobs_of(folder: Path) -> list[str]:
    """Ids of my jobs, waiting or running, that a workflow in ``folder`` has submitted."""
    rows = (line.split("|") for line in ask("squeue", "--me", "--noheader", "--format=%i|%k|%Z").splitlines())
    return [job for job, comment, place in rows if place == str(folder) and comment.startswith(("rule_", "group_"))]


def cancel_jobs_of(folder: Path) -> int:
    """Cancel a folder's jobs and wait until the last is gone; their number. RuntimeError names those that stay."""
    jobs = jobs_of(folder)
    if jobs:
        ask("scancel", *jobs)
    end = time.monotonic() + PATIENCE_SECONDS
    while left := jobs_of(folder):
        if time.monotonic() > end:
            raise RuntimeError(f"{folder}: cancelled, but still there after {PATIENCE_SECONDS} s: SLURM jobs {', '.join(left)}")
        time.sleep(1)
    return len(jobs)
