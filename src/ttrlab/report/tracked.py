"""What a tracked run says of a cell: numbers by step, provenance, a note. Read from the cell's files; no tracking library is known here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ttrlab.config.study import Cell, Plan
from ttrlab.files import digest, read_json, read_jsonl, sha256
from ttrlab.meter import JOURNAL, SUMMARY

AUDITED = ("label_accuracy", "reward_accuracy", "active_share", "coverage")
EVALUATIONS = ("evaluate", "curve", "score", "audit")
DETERMINISM = {
    ("torch", False): "bitwise: equal seeds give equal bytes on one kind of processor with one thread",
    ("torch", True): "seeded: GPU kernels may differ in the last digits",
    ("vllm", True): "seeded: batching changes the last digits",
    ("openrlhf", True): "state-exact: a resumed run samples anew",
}


@dataclass(frozen=True, slots=True)
class Point:
    """One number at one step."""

    name: str
    value: float
    step: int


def training_points(folder: Path) -> Iterator[Point]:
    """Every number of every step record of a cell's adaptation; nothing without one."""
    steps = folder / "adapt" / "steps.jsonl"
    for record in read_jsonl(steps) if steps.exists() else ():
        step = record.pop("step")
        yield from (Point(f"train/{name}", float(value), step) for name, value in record.items() if value is not None)


def audit_points(folder: Path) -> Iterator[Point]:
    """What the rewards of each step were worth."""
    if not (folder / "audit.csv").exists():
        return
    table = pd.read_csv(folder / "audit.csv")
    for row in table[table.window == "step"].to_dict("records"):
        yield from (Point(f"audit/{name}", float(row[name]), int(row["last_step"])) for name in AUDITED if pd.notna(row[name]))


def score_points(folder: Path, groups: bool) -> Iterator[Point]:
    """The scores of every evaluated checkpoint, over all questions or by their ``groups``."""
    for row in pd.read_csv(folder / "scores.csv").to_dict("records"):
        if (row["group"] != "all") == groups:
            group = f"/{row['group'].replace('=', '-')}" if groups else ""
            yield Point(f"eval/{row['metric'].replace('@', '_at_')}{group}", float(row["value"]), int(row["step"]))


def system_points(folder: Path, stages: tuple[str, ...]) -> Iterator[Point]:
    """Seconds by phase, what was discarded, and peak memory of a cell's jobs, from their cost files."""
    for stage in stages:
        path = folder / stage / SUMMARY
        if not path.is_file():
            continue
        cost = read_json(path)
        yield Point(f"system/{stage}/peak_rss_megabytes", float(cost["peak_rss_mb"]), 0)
        for phase, spent in cost["phases"].items():
            yield Point(f"system/{stage}/{phase}_wall_seconds", spent["wall"], 0)
            yield Point(f"system/{stage}/{phase}_cpu_seconds", spent["cpu"], 0)
        yield Point(f"system/{stage}/discarded_cpu_seconds", sum(spent["discarded_cpu"] for spent in cost["phases"].values()), 0)


def span_of(folder: Path, stages: tuple[str, ...]) -> tuple[int, int]:
    """First start and last end of a cell's jobs in milliseconds since 1970; 0, 0 without journals."""
    paths = [folder / stage / JOURNAL for stage in stages]
    times = [row["at"] for path in paths if path.is_file() for row in read_jsonl(path) if "at" in row]
    return (int(1000 * min(times)), int(1000 * max(times))) if times else (0, 0)


def provenance(plan: Plan, cell: Cell, folder: Path, lock: Path) -> dict[str, str]:
    """Where a cell comes from, as tags: code, lock, seed, prompt, model, data, versions, hardware, class of determinism."""
    entry, manifest = plan.model(cell), folder / "adapt" / "manifest.json"
    cost = folder / "evaluate" / SUMMARY
    hardware: Mapping[str, Any] = read_json(cost) if cost.is_file() else {"devices": [], "processor": "not recorded", "cores": 0}
    accelerated = bool(hardware["devices"])
    tags = {
        "prompt_sha256": digest(entry.prompt.model_dump(mode="json")),
        "model_revision": entry.revision if entry.source == "hub" else entry.source,
        "model_licence": entry.licence or "unknown",
        "engine": plan.study.engine,
        "lock_sha256": sha256(lock),
        "hardware": ", ".join(hardware["devices"]) or f"{hardware['processor']}, {hardware['cores']} cores",
        "determinism": DETERMINISM.get((plan.study.engine, accelerated), "seeded: not measured"),
    }
    if manifest.is_file():
        recorded: Mapping[str, Any] = read_json(manifest)
        tags |= {
            "revision": recorded["revision"] or "unknown",
            "spec_sha256": recorded["spec_digest"],
            "questions_sha256": recorded["inputs"]["questions.jsonl"],
            "versions": ", ".join(f"{name} {version}" for name, version in sorted(recorded["versions"].items())),
        }
    return tags


def model_card_of(folder: Path) -> Path | None:
    """The card beside the endpoint's weights."""
    cards = sorted((folder / "adapt" / "checkpoints").glob("step*/README.md"))
    return cards[-1] if cards else None


def note(cell: Cell, page: str, tags: Mapping[str, str], card: Path | None) -> str:
    """The description of a run in Markdown: where to look further, where it comes from, the model card."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in sorted(tags.items()))
    text = f"`{cell.path}`\n\nEvery question of this cell: `{page}`, opened from disk.\n\n| | |\n|---|---|\n{rows}\n"
    return text + (f"\n{card.read_text(encoding='utf-8').split('---', 2)[2]}" if card else "\nThe model as it is, without adaptation.\n")
