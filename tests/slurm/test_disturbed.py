"""A study on a real SLURM, disturbed in every way that a cluster knows: each time it ends with the undisturbed result."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster, output
from tests.slurm.table import Case
from tests.slurm.world import (
    CHECKS,
    STUDY,
    SUMMARY,
    Run,
    attempts,
    checkout,
    clear,
    environment,
    freeze,
    pull_the_plug,
    repair,
    result,
    to_redo,
)

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(1800)]
MINUTE = ("--set-resources", "adapt:runtime=attempt", "adapt:slurm_extra='--nice=0'")
"""One minute in the first attempt, two in the second, and no signal before: SLURM sends it up to a minute early."""


@pytest.fixture(scope="module")
def undisturbed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = Run(checkout(tmp_path_factory.mktemp("study")), target=SUMMARY)
    run.finish()
    return run


@pytest.fixture(scope="module")
def finished(undisturbed: Run) -> Path:
    return undisturbed.folder


@pytest.fixture
def unfinished(finished: Path, tmp_path: Path) -> Iterator[Path]:
    folder = to_redo(finished, tmp_path / "study")
    yield folder
    clear(folder)


@pytest.fixture
def ends_like_it(cases, finished, unfinished):
    """Compare a run's result with the undisturbed one, and note what happened."""
    begun = time.monotonic()

    def check(name: str, typed: str = "nothing") -> None:
        assert result(unfinished) == result(finished)
        cases.append(Case(name, states_of(unfinished, "adapt"), attempts(unfinished), time.monotonic() - begun, typed))

    return check


def states_of(folder: Path, rule: str = "") -> list[str]:
    """What accounting says became of the jobs of ``folder``, or of those of one rule, oldest first."""
    rows = (line.split("|") for line in output("sacct", "-X", "-n", "-P", "-o", "JobID,State,WorkDir").splitlines())
    logs = {path.stem for path in (folder / "logs/slurm").glob(f"rule_{rule}*/**/*.log")}
    return [state.split()[0] for job, state, place in rows if place == str(folder) and (job in logs or not rule)]


def test_a_study_runs_as_typed_with_at_most_eight_jobs(cases, undisturbed, finished):
    states = states_of(finished)
    assert states == ["COMPLETED"] * len(states)
    assert 1 < len(states) <= 8
    assert attempts(finished) == [[1, 2, 3, 4]]
    cases.append(
        Case(f"nothing ({len(states)} jobs of the whole study)", states_of(finished, "adapt"), attempts(finished), undisturbed.seconds)
    )


def test_a_job_that_hangs_until_its_time_is_out_goes_on_with_twice_the_time(unfinished, ends_like_it):
    run = Run(unfinished, *MINUTE)
    run.after_a_step()
    freeze(run.stage())
    run.finish()
    states = states_of(unfinished, "adapt")
    assert (states[0], states[-1]) == ("TIMEOUT", "COMPLETED")
    ends_like_it("a step that hangs until the time is out")


def test_a_job_that_needs_more_memory_gets_it(unfinished, ends_like_it):
    run = Run(unfinished, "--set-resources", "adapt:mem_mb=350*attempt*attempt")
    run.finish()
    assert states_of(unfinished, "adapt")[-1] == "COMPLETED"
    assert "Exceeded job memory limit" in run.job_logs()
    ends_like_it("350 MB of memory, four times as much at the second attempt")


def test_a_job_whose_node_dies_goes_on_on_another(cluster, unfinished, ends_like_it):
    run = Run(unfinished)
    node = pull_the_plug(cluster, run.after_a_step())
    try:
        run.finish()
    finally:
        repair(cluster, node)
    assert states_of(unfinished, "adapt") == ["NODE_FAIL", "COMPLETED"]
    assert f"excluded from subsequent submissions: {node}" in run.text()
    ends_like_it("the node dies in mid-job")


def test_a_job_that_somebody_cancels_goes_on(unfinished, ends_like_it):
    run = Run(unfinished)
    output("scancel", run.after_a_step())
    run.finish()
    assert states_of(unfinished, "adapt") == ["CANCELLED", "COMPLETED"]
    ends_like_it("`scancel`")


@pytest.mark.parametrize("words", [("--signal=USR1",), ("--signal=TERM",)], ids=["USR1", "TERM"])
def test_a_signalled_job_stops_at_a_step_boundary_and_repeats_no_step(unfinished, ends_like_it, words):
    run = Run(unfinished)
    output("scancel", *words, run.after_a_step())
    run.finish()
    steps = attempts(unfinished)
    assert len(steps) == 2
    assert steps[0] + steps[1] == [1, 2, 3, 4]
    ends_like_it(f"`scancel {words[0]}`")


def test_a_killed_driver_is_followed_by_make_resume(unfinished, ends_like_it):
    run = Run(unfinished)
    orphan = run.after_a_step()
    freeze(run.stage())
    os.kill(run.driver.pid, signal.SIGKILL)
    run.driver.wait()
    assert orphan in output("squeue", "-h", "-o", "%i")
    command = ["make", "resume", f"STUDY={STUDY}", f"PROFILE=slurm {' '.join(CHECKS)}"]
    done = subprocess.run(command, cwd=unfinished, env=environment(), capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "stopped 1 SLURM jobs" in done.stdout
    assert orphan not in output("squeue", "-h", "-o", "%i")
    ends_like_it("`kill -9` of the driver", f"`make resume STUDY={STUDY} PROFILE=slurm`")
