"""``ttrlab plan`` as a user calls it."""

import subprocess
import sys

import pandas as pd
import pytest
import yaml

from tests.workflow.world import ROOT, environment
from ttrlab.config.catalogue import read_yaml
from ttrlab.stages.plan import load_plan
from ttrlab.stages.price import canary_of


def plan(*arguments):
    command = [sys.executable, "-m", "ttrlab.cli", "plan", "--config", "config/demo.yaml", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)


def test_the_price_names_phases_resolution_disk_and_jobs(tmp_path):
    done = plan("--out", str(tmp_path / "price.csv"))
    assert done.returncode == 0, done.stderr
    for words in (
        "CPU-minutes by phase",
        "P10   P50   P90",
        "pretrain",
        "detectable",
        "points would be seen",
        "disk:",
        "jobs that a run",
    ):
        assert words in done.stdout
    table = pd.read_csv(tmp_path / "price.csv")
    assert (table.seconds_p10 <= table.seconds_p50).all()
    assert len(table[table.phase == "update"]) == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cap-gpu-hours", "0.001"], r"above the cap of 0.001"),
        (["--hardware", "abacus"], "hardware: unknown name 'abacus'"),
        (["--measured", "docs"], "--measured docs: no study was run there"),
        (["--gpus", "0"], "expected a whole number of at least 1"),
    ],
)
def test_what_cannot_be_priced_or_costs_too_much_is_refused_with_its_numbers(arguments, message):
    done = plan(*arguments)
    assert done.returncode != 0
    assert message in done.stderr


def test_the_cap_is_compared_with_the_high_end(tmp_path):
    assert "(P90; P50" in plan("--cap-gpu-hours", "0.001").stderr
    assert plan("--cap-gpu-hours", "1000").returncode == 0


@pytest.mark.parametrize("name", ["config", "scope", "truer", "demo", "lab"])
def test_a_canary_is_five_steps_of_every_cell_of_the_first_seed(name):
    raw = read_yaml(ROOT / "config" / f"{name}.yaml")
    plan, canary = load_plan(raw, ROOT / "config"), load_plan(canary_of(raw), ROOT / "config")
    assert canary.study.study == f"{plan.study.study}-canary"
    assert set(canary.cells) == {cell for cell in plan.cells if cell.seed == plan.study.seeds[0]}
    assert {canary.training(cell).updates for cell in canary.cells} == {5}


def test_the_canary_is_written_as_a_study(tmp_path):
    done = plan("--write-canary", str(tmp_path / "canary.yaml"))
    assert done.returncode == 0, done.stderr
    assert "snakemake --profile profiles/local --configfile" in done.stdout
    assert yaml.safe_load((tmp_path / "canary.yaml").read_text())["study"] == "demo-canary"
