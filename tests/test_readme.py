"""Every command in the README is parsed: by make, by Snakemake's dry run, or by the command line."""

import re
import shlex
import subprocess

import pytest

from tests.workflow.world import ROOT, environment
from ttrlab.cli import build_parser, dispatch

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line.strip() for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines() if line.strip()]


def run(*command):
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)


def test_the_readme_has_commands():
    assert {"make demo", "make test"} <= set(COMMANDS)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("make ")])
def test_every_make_target_exists(command):
    done = run(*shlex.split(command), "--dry-run", "--no-print-directory")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("snakemake ")])
def test_every_snakemake_command_plans(command):
    words = shlex.split(command)
    done = run(*words[:1], "-n", "--quiet", "rules", "--nolock", *words[1:])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_the_doctor_is_called_as_it_understands():  # what it finds is this machine's affair
    (command,) = [c for c in COMMANDS if c.startswith("ttrlab doctor")]
    assert (ROOT / build_parser().parse_args(shlex.split(command)[1:]).config).exists()


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("ttrlab ") and not c.startswith("ttrlab doctor")])
def test_every_ttrlab_command_runs(command):
    assert dispatch(build_parser().parse_args(shlex.split(command)[1:]))


def test_every_command_of_the_readme_is_of_a_kind_that_is_tested():
    assert all(command.startswith(("make ", "snakemake ", "ttrlab ")) for command in COMMANDS)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:src|config|rules|docs|profiles|envs|results)/[A-Za-z0-9_./-]*)`", README))))
def test_every_path_in_the_readme_exists(path):
    assert (ROOT / path).exists() or path.startswith("results/")
