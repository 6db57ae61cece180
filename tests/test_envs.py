"""The locks against what they were resolved from; nothing is installed for it."""

import re

import pytest

from tests.workflow.world import ROOT
from ttrlab.stages.diagnosis import locked


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(name: str) -> list[tuple[str, str]]:
    """Package and exact version (empty where any will do) of each line."""
    lines = [line.split("#")[0].strip() for line in (ROOT / f"envs/{name}.in").read_text().splitlines()]
    found = [re.fullmatch(r"([\w.-]+)(?:\[\w+\])?(?:(==|>=)(.+))?", line) for line in lines if line]
    return [
        (plain(match[1]), match[3] if match[2] == "==" else "") for match in found if match[1] != "setuptools"
    ]  # pip freeze leaves it out


@pytest.mark.parametrize("name", ["local", "vllm-cpu", "cluster"])
def test_every_package_that_is_asked_for_is_locked_at_the_version_asked_for(name):
    pins = {plain(package): version for package, version in locked(ROOT / f"envs/{name}.lock").items()}
    asked = wanted(name)
    assert len(asked) > 10
    assert [package for package, version in asked if package not in pins or (version and pins[package] != version)] == []


def test_the_clusters_lock_holds_what_openrlhf_states_of_itself():
    pins = locked(ROOT / "envs/cluster.lock")
    stated = {
        "openrlhf": "0.11.2",
        "deepspeed": "0.19.6",
        "flash-attn": "2.8.3",
        "ray": "2.55.0",
        "transformers": "5.15.0",
        "vllm": "0.29.0",
    }
    assert {name: pins[name] for name in stated} == stated
