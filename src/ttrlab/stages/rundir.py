"""The folder of one adaptation or rectifier training: what is written after every step, and where a killed run goes on.

steps/step000001.json
rollouts/step000001.jsonl.gz  decisions/step000001.jsonl.gz   an adaptation's; a rectifier's training has judgements/ instead
checkpoints/step000010/   policies in Hugging Face form, kept
state/step000003/         policy, optimiser, schedule, random state; the newest two while running, none at the end
spec.json                 what this folder was begun with
"""

import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from ttrlab.adapt.loop import Step
from ttrlab.adapt.record import decision_row, pool_row, step_record
from ttrlab.engines.base import Policy
from ttrlab.files import HASHES, atomic_folder, digest, is_whole, read_json, write_json, write_jsonl, write_text
from ttrlab.pools import write_pool

KEPT = ("rollouts", "decisions", "judgements", "checkpoints")
PARTS = ("steps", *KEPT, "state")


class StopRequest:
    """Set by SIGTERM and SIGUSR1 (preemption, a time limit close by): stop at the next step boundary."""

    def __init__(self) -> None:
        self.name: str | None = None
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.name = signal.Signals(number).name


def step_name(step: int) -> str:
    """Folder and file stem of a step."""
    return f"step{step:06d}"


def step_number(path: Path) -> int:
    """The step in a file or folder name written by ``step_name``."""
    return int(path.name.split(".")[0].removeprefix("step"))


def model_identity(weights: str) -> object:
    """What a model is known by: the hashes of its files where they are recorded, otherwise its name."""
    recorded = Path(weights) / HASHES
    return read_json(recorded) if recorded.is_file() else weights


def begin(folder: Path, identity: Mapping[str, Any]) -> None:
    """Make ``folder`` ready for a run of ``identity`` (spec and hashes of its inputs).

    What another identity left there is moved to ``<folder>.previous``; what this one left is kept and resumed from.
    """
    marker = folder / "spec.json"
    if folder.exists() and any(folder.iterdir()) and not (marker.is_file() and digest(read_json(marker)) == digest(identity)):
        previous = folder.with_name(f"{folder.name}.previous")
        shutil.rmtree(previous, ignore_errors=True)
        folder.rename(previous)
    write_json(marker, identity)


def resume(folder: Path, policy: Policy) -> int:
    """Load the newest whole state into the policy, drop what later steps and killed writes left, and return the number of steps done."""
    states = sorted((folder / "state").glob("step*"), key=step_number, reverse=True)
    done = 0
    for state in states:
        if is_whole(state):
            policy.load_state(state)
            done = step_number(state)
            break
    drop_after(folder, done)
    return done


def drop_after(folder: Path, done: int) -> None:
    """Drop what steps after ``done`` and killed writes left."""
    later = [path for part in PARTS for path in (folder / part).glob("step*") if step_number(path) > done]
    half_written = [*folder.glob(".*.tmp"), *(path for part in PARTS for path in (folder / part).glob(".*.tmp"))]
    for path in (*later, *half_written):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def newest_step(folder: Path) -> int:
    """The newest step that has a record; 0 before the first."""
    return max((step_number(path) for path in (folder / "steps").glob("step*.json")), default=0)


def write_step(folder: Path, step: Step, keep_rollouts: bool) -> None:
    """Write a step's record, and (if kept) its roll-outs and decisions."""
    name = step_name(step.number)
    write_json(folder / "steps" / f"{name}.json", step_record(step))
    if keep_rollouts:
        write_pool(folder / "rollouts" / f"{name}.jsonl.gz", (pool_row(group, step.number) for group in step.groups))
        decided = zip(step.groups, step.decisions, strict=True)
        write_jsonl(folder / "decisions" / f"{name}.jsonl.gz", (decision_row(g, d, step.number) for g, d in decided))


def write_checkpoint(folder: Path, policy: Policy, step: int, card: str | None = None) -> None:
    """Keep the policy, with its model card if there is one."""
    with atomic_folder(folder / "checkpoints" / step_name(step)) as target:
        policy.save_checkpoint(target)
        if card is not None:
            write_text(target / "README.md", card)


def write_state(folder: Path, policy: Policy, step: int) -> None:
    """Write the state that a killed run resumes from; the newest two are kept."""
    with atomic_folder(folder / "state" / step_name(step)) as target:
        policy.save_state(target)
    for old in sorted((folder / "state").glob("step*"), key=step_number)[:-2]:
        shutil.rmtree(old)


def finish(folder: Path) -> list[Path]:
    """Join the step files into ``steps.jsonl``, drop the state, and return the files of the result."""
    files = sorted((folder / "steps").glob("step*.json"), key=step_number)
    write_jsonl(folder / "steps.jsonl", (read_json(file) for file in files))
    shutil.rmtree(folder / "state", ignore_errors=True)
    kept = [folder / "steps.jsonl"]
    for part in KEPT:
        kept += sorted(path for path in (folder / part).rglob("*") if path.is_file())
    return kept
