"""A copy of the project in a folder of its own, its study run by ``snakemake --profile slurm``, and what disturbs a job of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from tests.slurm.cluster import Cluster, output, wait_for
from ttrlab.files import hashes, read_json, read_jsonl, sha256
from ttrlab.stages.slurm import cancel_jobs_of

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "rules", "config", "profiles", "slurm", "Makefile", "envs", "pyproject.toml", "docs/captions")
STUDY, SUMMARY = "config/slurm_test.yaml", "results/slurm_test/summary.csv"
CELL = Path("results/slurm_test/cells/lab-sketch/lab-agreed/core/seed0")
SCORES = str(CELL / "scores.csv")
CHECKS = ("--slurm-init-seconds-before-status-checks", "5")
"""How often the driver asks SLURM; its default of 40 s is kinder to a cluster that others use."""


def environment() -> dict[str, str]:
    """The environment of a user who has activated the project's environment."""
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": binaries, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def checkout(folder: Path) -> Path:
    """The project's files, times kept, beside a link to this environment, so that commands are typed as in the README."""
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target, follow_symlinks=False)
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    return folder


def to_redo(finished: Path, folder: Path) -> Path:
    """A copy of a finished run in which one cell has yet to be adapted."""
    shutil.copytree(finished, folder, symlinks=True, ignore=shutil.ignore_patterns("logs"))
    shutil.rmtree(folder / CELL)
    return folder


class Run:
    """A driver at work in ``folder`` until ``target`` is there; ``arguments`` go to Snakemake."""

    def __init__(self, folder: Path, *arguments: str, target: str = SCORES) -> None:
        self.folder, self.log, self.begun, self.seconds = folder, folder / "driver.log", time.monotonic(), 0.0
        command = ["snakemake", "--profile", "slurm", "--configfile", STUDY, *CHECKS, *arguments, "--", target]
        with open(self.log, "ab") as log:
            self.driver = subprocess.Popen(command, cwd=folder, env=environment(), stdout=log, stderr=log)

    def finish(self, seconds: float = 1200) -> None:
        """Wait for the driver; AssertionError with the log's end unless it ended well."""
        assert self.driver.wait(seconds) == 0, self.text()[-3000:]
        self.seconds = time.monotonic() - self.begun

    def text(self) -> str:
        """What the driver has printed."""
        return self.log.read_text()

    def job_logs(self) -> str:
        """What the SLURM jobs have printed."""
        return "".join(path.read_text() for path in sorted((self.folder / "logs/slurm").rglob("*.log")))

    def after_a_step(self) -> str:
        """The id of the SLURM job of the adaptation, once its first step is done."""
        wait_for(lambda: (self.folder / CELL / "adapt/steps/step000001.json").exists(), "the first step", 600, 0.05)
        rows = (line.split("|") for line in output("squeue", "-h", "-t", "R", "-o", "%i|%k|%Z").splitlines())
        (job,) = [job for job, comment, place in rows if comment.startswith("rule_adapt_") and place == str(self.folder)]
        return job

    def stage(self) -> psutil.Process:
        """The process of the adaptation."""
        return max(
            (process for process in processes_of(self.folder) if "ttrlab.stages.adapt" in process.cmdline()),
            key=lambda process: process.create_time(),
        )


def clear(folder: Path) -> None:
    """End what a failed test has left at work in ``folder``."""
    cancel_jobs_of(folder)
    for process in processes_of(folder):
        process.kill()


def processes_of(folder: Path) -> list[psutil.Process]:
    """Processes that work in ``folder``."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found


def pull_the_plug(cluster: Cluster, job: str) -> str:
    """Kill all that runs on a job's node, then say that the node is down. Its name."""
    node = output("squeue", "-h", "-j", job, "-o", "%N").strip()
    daemon = psutil.Process(cluster.pid(f"slurmd.{node}"))
    daemon.kill()
    for step in psutil.process_iter(["cmdline"]):
        if any(part.startswith(f"slurmstepd: [{job}.") for part in step.info["cmdline"] or []):
            for process in (step, *step.children(recursive=True)):
                process.kill()
    (cluster.root / f"run/slurmd.{node}.pid").unlink(missing_ok=True)
    output("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    return node


def repair(cluster: Cluster, node: str) -> None:
    """Start a node again."""
    cluster.start_node(node)
    output("scontrol", "update", f"nodename={node}", "state=resume")
    wait_for(lambda: cluster.state(node) in ("idle", "mixed", "allocated"), f"node {node}")


def freeze(process: psutil.Process) -> None:
    """Let a process hang."""
    process.send_signal(signal.SIGSTOP)


def result(folder: Path) -> dict[str, object]:
    """What a cell ends with, by hash: steps, roll-outs, decisions, checkpoint of the adaptation; roll-outs and scores of the endpoint."""
    adapted = {name: value for name, value in hashes(folder / CELL / "adapt").items() if not name.startswith("cost.")}
    manifest = read_json(folder / CELL / "adapt/manifest.json")
    adapted["manifest.json"] = manifest["outputs"]
    pools = {name: sha256(folder / CELL / f"evaluate/{name}.jsonl.gz") for name in ("rollouts", "greedy")}
    return {**adapted, **pools, "scores": (folder / SCORES).read_text()}


def attempts(folder: Path) -> list[list[int]]:
    """The steps that each attempt at the adaptation began and finished, from its journal."""
    made: dict[int, list[int]] = {}
    for row in read_jsonl(folder / CELL / "adapt/cost.jsonl"):
        steps = made.setdefault(row["attempt"], [])
        if row.get("phase") == "write":
            steps.append(row["step"])
    return list(made.values())
