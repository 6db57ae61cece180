"""A study small enough for a test: a tiny random model, six sums, one seed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from tests.engines.tiny import save_model
from ttrlab.files import hashes, read_json

ROOT = Path(__file__).resolve().parents[2]
METHODS = {"base": {}, "majority": {"reward": {"rule": "majority"}}, "oracle": {"reward": {"rule": "oracle"}, "gold": True}}
STUDY = {
    "study": "tiny", "catalogue": "catalogue", "models": ["tiny"], "benchmarks": ["sums"], "methods": ["base", "majority", "oracle"],
    "seeds": [0],
    "training": {
        "votes": 4, "train": 4, "batch": 4, "episodes": 2, "checkpoint_every": 2, "kl_coefficient": 0.0, "learning_rate": 1e-3,
    },
    "sampling": {"max_new_tokens": 8, "max_prompt_tokens": 32},
    "evaluation": {"samples": 4, "metrics": ["mean@4", "pass@4", "greedy"], "curve_samples": 4},
}  # fmt: skip


def build(folder: Path) -> None:
    """Write the model, the questions, the catalogue and the study."""
    save_model(folder / "tiny")
    rows = [{"problem": f"{a}+{b}=", "answer": str(a + b)} for a in range(2) for b in range(3)]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    entries = {
        "models": {"tiny": {"source": "path", "path": str(folder / "tiny"), "prompt": {"template": "plain", "where": "none"}}},
        "benchmarks": {"sums": {"source": "path", "path": str(folder / "sums.jsonl"), "rows": 6, "kind": "integer"}},
        "methods": METHODS,
    }
    for kind, value in entries.items():
        write_catalogue(folder, kind, value)
    write_study(folder, {})


def write_catalogue(folder: Path, kind: str, entries: dict) -> None:
    (folder / "catalogue" / kind).mkdir(parents=True, exist_ok=True)
    (folder / "catalogue" / kind / "all.yaml").write_text(yaml.safe_dump(entries))


def write_study(folder: Path, changes: dict) -> None:
    (folder / "study.yaml").write_text(yaml.safe_dump({**STUDY, **changes}))


def environment() -> dict[str, str]:
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": binaries, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run the project's workflow on the study in ``folder``."""
    command = ["snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder), "--configfile", str(folder / "study.yaml")]
    return subprocess.run(
        [*command, "--cores", "2", "--show-failed-logs", *arguments], env=environment(), capture_output=True, text=True, check=False
    )


def planned(folder: Path, *arguments: str) -> dict[str, int]:
    """Rule -> number of jobs that a run would do now."""
    done = snakemake(folder, "-n", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    text = done.stdout + done.stderr
    if "Nothing to be done" in text:
        return {}
    counts = dict(re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE))
    counts.pop("total")
    return {rule: int(number) for rule, number in counts.items()}


def artefacts(adapted: Path) -> dict[str, object]:
    """What an adaptation made, by hash: all but the clock's numbers, and the manifest without the revision of the working tree."""
    found: dict[str, object] = {name: value for name, value in hashes(adapted).items() if not name.startswith("cost.")}
    manifest = read_json(adapted / "manifest.json")
    found["manifest.json"] = {key: value for key, value in manifest.items() if key not in ("revision", "code")}
    return found
