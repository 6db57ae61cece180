"""What ``ttrlab status`` says of jobs that ended well, badly, or not at all."""

import os
import subprocess
import sys
import time

import pytest

from tests.workflow.world import METHODS, ROOT, STUDY, environment, write_catalogue
from ttrlab.config.study import make_plan
from ttrlab.files import read_jsonl, write_jsonl, write_text
from ttrlab.meter import metered
from ttrlab.stages.plan import freeze
from ttrlab.stages.status import status_command

WORK = """
import sys, time
from pathlib import Path
from ttrlab.meter import metered
with metered(Path(sys.argv[1]), "adapt", "x") as meter:
    for step in range(1, 1000):
        for phase in ("sample", "decide", "update", "write"):
            meter.spent(phase, step, 0.5, 0.1, {})
        time.sleep(0.05)
"""
COST = ROOT / "config" / "cost.yaml"
LAB = {"lab": {"source": "lab"}}


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_catalogue(tmp_path, "models", LAB)
    write_catalogue(tmp_path, "benchmarks", {"sums": {"source": "path", "path": "sums.jsonl", "rows": 6, "kind": "integer"}})
    write_catalogue(tmp_path, "methods", METHODS)
    raw = {key: value for key, value in STUDY.items() if key != "catalogue"} | {"models": ["lab"], "methods": ["base", "majority"]}
    results = tmp_path / "results" / "tiny"
    freeze(make_plan(raw, tmp_path / "catalogue"), results / "plan.json")
    return results


def cell(world, method):
    return world / "cells" / "lab" / "sums" / method / "seed0"


def status(world):
    return status_command(world.parent, COST)


def start(folder):
    process = subprocess.Popen([sys.executable, "-c", WORK, str(folder)], env=environment())
    deadline = time.monotonic() + 60
    while not (folder / "cost.jsonl").exists() or len(list(read_jsonl(folder / "cost.jsonl"))) < 10:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def test_nothing_started_is_said_and_a_new_study_waits(world, tmp_path):
    assert "no study was started there" in status_command(tmp_path / "catalogue", COST)
    text = status(world)
    assert "tiny: 2 cells: 2 waiting" in text
    assert "no workflow is running in this folder" in text
    assert "by assumptions alone" in text


def test_a_running_adaptation_shows_its_step_and_process_and_a_kill_is_called_a_kill(world):
    process = start(cell(world, "majority") / "adapt")
    try:
        text = status(world)
        assert "1 running" in text
        assert "majority/seed0  adapt: step " in text
        assert f"of 4, 2 s a step; process {process.pid} on " in text
        assert "jobs are: a killed run's, or another machine's" in text
    finally:
        process.kill()
        process.wait()
    write_text(cell(world, "majority") / "logs" / "adapt.log", "first\nlast words\n")
    text = status(world)
    assert "1 killed" in text
    assert "running: " not in text
    assert f"process {process.pid}" in text
    assert "is gone" in text
    assert "| last words" in text


def test_a_process_number_that_was_given_away_is_not_the_job(world):
    folder = cell(world, "majority") / "adapt"
    process = start(folder)
    try:
        rows = list(read_jsonl(folder / "cost.jsonl"))
        process.kill()
        process.wait()
        rows[0] |= {"pid": os.getpid()}  # lives, but began at another time
        write_jsonl(folder / "cost.jsonl", rows)
        assert "1 killed" in status(world)
    finally:
        process.kill()


def test_a_job_that_lives_without_a_sign_is_stuck(world):
    folder = cell(world, "majority") / "adapt"
    process = start(folder)
    try:
        process.send_signal(19)  # SIGSTOP: it lives, and does nothing
        old = time.time() - 3600
        os.utime(folder / "cost.jsonl", (old, old))
        text = status(world)
        assert "1 stuck" in text
        assert "last sign of life 60 min ago" in text
    finally:
        process.kill()
        process.wait()


def test_a_failure_shows_its_reason_and_the_logs_last_lines(world):
    with pytest.raises(ValueError), metered(cell(world, "base") / "evaluate", "evaluate", "x"):
        raise ValueError("question 'q1' is too long")
    write_text(cell(world, "base") / "logs" / "evaluate.log", "\n".join(f"line {number}" for number in range(9)))
    text = status(world)
    assert "1 failed" in text
    assert "base/seed0  evaluate: ValueError: question 'q1' is too long" in text
    assert "| line 8" in text
    assert "line 3" not in text


def test_a_job_that_failed_before_its_journal_began_is_known_by_its_log(world):
    write_text(cell(world, "base") / "logs" / "evaluate.log", "evaluate: error: --spec (EvaluateSpec): samples: too few\n")
    assert "evaluate: evaluate: error: --spec (EvaluateSpec): samples: too few" in status(world)


def test_a_stop_at_a_step_boundary_is_no_failure(world):
    with pytest.raises(RuntimeError), metered(cell(world, "majority") / "adapt", "adapt", "x"):
        raise RuntimeError("adapt: stopped by SIGTERM after step 2 of 4; the next call goes on there")
    text = status(world)
    assert "1 stopped" in text
    assert "failed" not in text


def test_a_cell_is_done_by_its_results_whatever_its_journals_say(world):
    folder = cell(world, "base")
    with pytest.raises(ValueError), metered(folder / "evaluate", "evaluate", "x"):
        raise ValueError("first attempt")
    for name in ("evaluate/rollouts.jsonl.gz", "evaluate/greedy.jsonl.gz", "scores.csv", "questions.csv"):
        write_text(folder / name, "")
    assert "2 cells: 1 done, 1 waiting" in status(world)
