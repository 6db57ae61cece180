"""A real SLURM on this machine; a study in which one job is disturbed must end with the bytes of the undisturbed one."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster, check_permission, install, output
from tests.slurm.world import CHECKS, STUDY, Run, attempts, checkout, environment, freeze, pull_the_plug, repair, result, to_redo

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(900)]
MINUTE = ("--set-resources", "adapt:runtime=attempt", "adapt:slurm_extra='--signal=USR1@10'")
"""One minute in the first attempt, two in the second."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    check_permission()
    install()
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        Path(folder).chmod(0o755)  # the database runs as a user of its own
        running = Cluster(Path(folder))
        try:
            running.start()
            yield running
        finally:
            running.stop()


@pytest.fixture(scope="module")
def finished(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = checkout(tmp_path_factory.mktemp("study"))
    Run(folder).finish(600)
    return folder


@pytest.fixture
def unfinished(finished: Path, tmp_path: Path) -> Path:
    return to_redo(finished, tmp_path / "study")


def states_of(folder: Path) -> set[str]:
    """What accounting says became of the jobs of ``folder``'s adaptation, oldest first."""
    rows = [line.split("|") for line in output("sacct", "-X", "-n", "-P", "-o", "JobID,State,WorkDir,Comment").splitlines()]
    return {state.split()[0] for _, state, place, _ in rows if place == str(folder)}


def test_a_study_runs_as_typed_with_at_most_eight_jobs(finished):
    jobs = output("sacct", "-X", "-n", "-P", "-o", "JobID,State,WorkDir").splitlines()
    states = [line.split("|")[1] for line in jobs if line.endswith(f"|{finished}")]
    assert states == ["COMPLETED"] * len(states)
    assert 1 < len(states) <= 8
    assert attempts(finished) == [[1, 2, 3, 4]]


def test_a_job_that_hangs_until_its_time_is_out_goes_on_with_twice_the_time(finished, unfinished):
    run = Run(unfinished, *MINUTE)
    run.after_a_step()
    freeze(run.stage())
    run.finish()
    assert "TIMEOUT" in states_of(unfinished)
    assert len(attempts(unfinished)) == 2
    assert result(unfinished) == result(finished)


def test_a_job_that_needs_more_memory_gets_it(finished, unfinished):
    run = Run(unfinished, "--set-resources", "adapt:mem_mb=350*attempt*attempt")
    run.finish()
    assert states_of(unfinished) - {"COMPLETED"}
    assert result(unfinished) == result(finished)


def test_a_job_whose_node_dies_goes_on_on_another(cluster, finished, unfinished):
    run = Run(unfinished)
    node = pull_the_plug(cluster, run.after_a_step())
    try:
        run.finish()
    finally:
        repair(cluster, node)
    assert "NODE_FAIL" in states_of(unfinished)
    assert f"excluded from subsequent submissions: {node}" in run.text()
    assert result(unfinished) == result(finished)


def test_a_job_that_somebody_cancels_goes_on(finished, unfinished):
    run = Run(unfinished)
    output("scancel", run.after_a_step())
    run.finish()
    assert "CANCELLED" in states_of(unfinished)
    assert result(unfinished) == result(finished)


@pytest.mark.parametrize("words", [("--signal=USR1",), ("--signal=TERM",)], ids=["USR1", "TERM"])
def test_a_signalled_job_stops_at_a_step_boundary_and_repeats_no_step(finished, unfinished, words):
    run = Run(unfinished)
    output("scancel", *words, run.after_a_step())
    run.finish()
    steps = attempts(unfinished)
    assert len(steps) == 2
    assert steps[0] + steps[1] == [1, 2, 3, 4]
    assert result(unfinished) == result(finished)


def test_a_killed_driver_is_followed_by_make_resume(finished, unfinished):
    run = Run(unfinished)
    orphan = run.after_a_step()
    freeze(run.stage())
    os.kill(run.driver.pid, signal.SIGKILL)
    run.driver.wait()
    assert orphan in output("squeue", "-h", "-o", "%i")
    command = ["make", "resume", f"STUDY={STUDY}", f"PROFILE=slurm {' '.join(CHECKS)}"]
    done = subprocess.run(command, cwd=unfinished, env=environment(), capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "stopped 1 SLURM jobs" in done.stdout
    assert orphan not in output("squeue", "-h", "-o", "%i")
    assert result(unfinished) == result(finished)
