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


def test_a_living_workflow_is_left_alone_and_named(tmp_path):
    driver = start(tmp_path, "snakemake")
    try:
        with pytest.raises(RuntimeError, match=f"process {driver.pid}"):
            recover_command(tmp_path)
        assert driver.poll() is None
    finally:
        driver.kill()
        driver.wait()
