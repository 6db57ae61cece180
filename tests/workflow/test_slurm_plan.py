"""What `snakemake --profile slurm` says before anything is submitted; no SLURM is needed for it."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.workflow.world import ROOT, environment

BLOCKS = [block for file in (ROOT / "rules").glob("*.smk") for block in file.read_text().split("\nrule ")[1:]]
SUBMITTED = {block.split(":")[0] for block in BLOCKS if "**needs(" in block}
"""Rules that say what they need of a cluster; the others are local."""


def snakemake(folder: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess:
    """The project's workflow with the SLURM profile, working in ``folder``, with ``path`` in front of nothing else."""
    surroundings = environment()
    command = [shutil.which("snakemake", path=surroundings["PATH"]), "--snakefile", ROOT / "Snakefile", "--directory", folder]
    command += ["--profile", ROOT / "profiles/slurm", *arguments]
    if path is not None:
        surroundings["PATH"] = path
    return subprocess.run(list(map(str, command)), env=surroundings, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def dry_run(tmp_path_factory):
    done = snakemake(tmp_path_factory.mktemp("grid"), "-n", "--quiet", "rules", "--configfile", str(ROOT / "config/truer.yaml"))
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def test_a_dry_run_prints_the_grids_jobs_by_rule_gpus_and_partitions(dry_run):
    rows = [line.split() for line in dry_run.splitlines()]
    assert "rule jobs GPUs nodes partition hours GPU-hours at most".split() in rows
    assert ["adapt", "15", "4", "1", "(default)", "24", "1440"] in rows
    assert ["adapt", "20", "8", "1", "(default)", "24", "3840"] in rows
    assert "at most 7324 GPU-hours" in dry_run


@pytest.mark.parametrize("study", ["truer", "lab-truer"])
def test_the_table_counts_the_jobs_that_snakemake_counts(tmp_path, study):
    done = snakemake(tmp_path, "-n", "--quiet", "rules", "--configfile", str(ROOT / f"config/{study}.yaml"))
    rows = [line.split() for line in (done.stdout + done.stderr).splitlines()]
    counted = {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}
    asked: Counter[str] = Counter()
    for row in rows:
        if len(row) == 7 and row[1].isdigit():
            asked[row[0]] += int(row[1])
    assert asked == {rule: number for rule, number in counted.items() if rule in SUBMITTED}
    assert len(asked) >= 3


def test_a_machine_without_sbatch_is_told_so_before_anything_starts(tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("bash", "sh", "git", "which"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    done = snakemake(tmp_path, "--configfile", str(ROOT / "config/slurm_test.yaml"), path=str(tmp_path / "bin"))
    assert done.returncode != 0
    assert "this machine has no sbatch, so nothing was started" in done.stdout + done.stderr
    assert not (tmp_path / "results").exists()
