import subprocess
import sys

import pytest

from ttrlab.stages.recover import recover_command

WAIT = "import time; time.sleep(600)"


def start(folder, *words):
    return subprocess.Popen([sys.executable, "-c", WAIT, *words], cwd=folder)


def test_stages_of_a_dead_run_are_stopped_in_this_folder_only(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "other").mkdir()
    orphan, neighbour, stranger = (
        start(tmp_path / "mine", "ttrlab.stages.adapt"),
        start(tmp_path / "other", "ttrlab.stages.adapt"),
        start(tmp_path / "mine", "editor"),
    )
    try:
        assert recover_command(tmp_path / "mine") == "stopped 1 processes of a killed run"
        assert orphan.poll() is not None
        assert neighbour.poll() is None
        assert stranger.poll() is None
        assert recover_command(tmp_path / "mine") == "nothing was left running"
    finally:
        for process in (orphan, neighbour, stranger):
            process.kill()
            process.wait()


def test_a_jobs_own_snakemake_and_its_shell_are_no_workflow(tmp_path):
    inner = start(tmp_path, "-m", "snakemake", "--target-jobs", "adapt:")
    shell = start(tmp_path, "srun -n1 python -m snakemake --target-jobs adapt:")
    try:
        assert recover_command(tmp_path) == "nothing was left running"
    finally:
        for process in (inner, shell):
            process.kill()
            process.wait()


def test_a_living_workflow_is_left_alone_and_named(tmp_path):
    driver = start(tmp_path, "snakemake")
    try:
        with pytest.raises(RuntimeError, match=f"process {driver.pid}"):
            recover_command(tmp_path)
        assert driver.poll() is None
    finally:
        driver.kill()
        driver.wait()


def test_a_folder_that_never_submitted_asks_no_cluster_and_one_that_did_has_its_jobs_cancelled(tmp_path, monkeypatch):
    script = """#!/bin/sh
    case "$0 $*" in
      *squeue*) [ -e gone ] || printf '7|rule_adapt_x|%s\\n8|rule_adapt_x|/elsewhere\\n9|mine|%s\\n' "$PWD" "$PWD" ;;
      *"scancel 7") touch gone ;;
      *) exit 1 ;;
    esac
    """
    for name in ("squeue", "scancel"):
        (tmp_path / name).write_text(script.replace("\n    ", "\n"))
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.chdir(tmp_path)
    assert recover_command(tmp_path) == "nothing was left running"
    (tmp_path / "logs/slurm").mkdir(parents=True)
    assert recover_command(tmp_path) == "stopped 1 SLURM jobs of a killed run"
    assert (tmp_path / "gone").exists()
