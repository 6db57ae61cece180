"""``ttrlab launch --dry-run``: OpenRLHF's command for one cell of a study, printed and not run."""

import shlex
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from ttrlab.adapt.schedule import total_updates
from ttrlab.config.catalogue import read_yaml
from ttrlab.config.hardware import read_hardware
from ttrlab.config.specs import adapt_spec
from ttrlab.engines.openrlhf.checks import check_hardware, check_spec
from ttrlab.engines.openrlhf.command import RunFiles, command
from ttrlab.stages.plan import CELL_KEYS, Jobs, load_plan, requested_cell


def dry_run_command(study: Path, cell: Sequence[str], hardware: str) -> str:
    """The command as it can be pasted into a shell. ``cell``: ``model=...`` and the other keys, names in any spelling.

    ValueError as the planned run would have it: an unknown cell, a spec that OpenRLHF cannot run, GPUs that do not divide the work.
    """
    raw = read_yaml(study)
    given = dict(_pair(word) for word in cell)
    plan = load_plan({**raw, "engine": "openrlhf"}, Path("config"))
    known = {
        "model": {cell.model for cell in plan.cells},
        "benchmark": {cell.benchmark for cell in plan.cells},
        "method": {cell.method for cell in plan.cells},
    }
    named = {key: _spelt(value, known[key]) if key in known else value for key, value in given.items()}
    chosen = requested_cell(plan, named)
    if chosen is None:
        raise ValueError(f"name a cell: {', '.join(f'{key}=...' for key in CELL_KEYS)}")
    spec, machine = adapt_spec(plan, chosen), read_hardware(hardware)
    check_spec(spec)
    check_hardware(spec.training, machine)
    jobs = Jobs(plan, f"results/{plan.study.study}")
    files = RunFiles(Path(f"{jobs.folder(chosen)}/adapt").absolute())
    words = command(spec, jobs.weights(chosen.model), machine, files, total_updates(spec.rows, spec.training))
    return " \\\n  ".join(_lines(words))


def _pair(word: str) -> tuple[str, str]:
    """``key=value``; ValueError otherwise."""
    key, sign, value = word.partition("=")
    if not sign or key not in CELL_KEYS:
        raise ValueError(f"expected {', '.join(f'{key}=...' for key in CELL_KEYS)}, got {word!r}")
    return key, value


def _spelt(name: str, known: Iterable[str]) -> str:
    """The study's own spelling of a name that differs in case and punctuation alone (MATH-500: math500); otherwise the name itself."""
    matching = [other for other in known if _letters(other) == _letters(name)]
    return matching[0] if len(matching) == 1 else name


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _lines(words: Sequence[str]) -> list[str]:
    """One flag with its values a line, the program first."""
    starts = [number for number, word in enumerate(words) if word.startswith("--")] + [len(words)]
    return [shlex.join(words[: starts[0]]), *(shlex.join(words[a:b]) for a, b in pairwise(starts))]
