"""What OpenRLHF saves: states to resume from, and policies in Hugging Face form that nobody ever removes there.

<state>/_actor/global_step3/   DeepSpeed's state, the newest two; <state>/_actor/latest names the newest whole one
<state>/global_step3_hf/       the policy after step 3, written right after that state
<state>/final/                 the policy after the last step
"""

import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from ttrlab.files import atomic_folder, write_text

Collect = Callable[[Path, int], None]
"""Keep the policy in a folder as the checkpoint of a step."""


def latest(state: Path) -> int:
    """The step of the newest whole DeepSpeed state, 0 where there is none: DeepSpeed writes ``latest`` last."""
    marker = state / "_actor" / "latest"
    return int(marker.read_text(encoding="utf-8").strip().removeprefix("global_step")) if marker.is_file() else 0


def policies(state: Path) -> dict[int, Path]:
    """Step -> folder of every policy in Hugging Face form."""
    found = ((re.fullmatch(r"global_step(\d+)_hf", path.name), path) for path in sorted(state.glob("global_step*_hf")))
    return {int(match.group(1)): path for match, path in found if match}


def resume_point(state: Path, wanted: Collection[int]) -> int:
    """The step from which OpenRLHF will go on. ``wanted``: steps whose policy is still to be collected.

    A kill can fall between a state and the policy of the same step. A newest state whose policy is wanted and may be torn is given up for
    the one before it, so that the step is made again; whole policies are collected as soon as the next step has begun.
    """
    newest = latest(state)
    if newest not in wanted:
        return newest
    shutil.rmtree(state / "_actor" / f"global_step{newest}", ignore_errors=True)
    shutil.rmtree(state / f"global_step{newest}_hf", ignore_errors=True)
    kept = sorted(int(path.name.removeprefix("global_step")) for path in (state / "_actor").glob("global_step*") if path.is_dir())
    before = [step for step in kept if step < newest]
    if not before:
        shutil.rmtree(state, ignore_errors=True)
        return 0
    write_text(state / "_actor" / "latest", f"global_step{before[-1]}")
    return before[-1]


def collect(state: Path, wanted: Collection[int], begun: int, keep: Collect) -> None:
    """Keep every wanted policy of a step before ``begun`` (a step that has begun, so all earlier ones are whole); remove the others."""
    for step, folder in policies(state).items():
        if step < begun:
            if step in wanted:
                keep(folder, step)
            shutil.rmtree(folder)


def keep_policy(source: Path, target: Path, card: str) -> None:
    """Move a policy into the checkpoint folder ``target``, hashed, with its model card."""
    with atomic_folder(target) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        write_text(folder / "README.md", card)
