"""A rule of one's own: one file and its name in the union, then it trains, replays, and stands in table and figure."""

import os
import shutil

import pandas as pd
import yaml

from tests.workflow.world import METHODS, ROOT, STUDY, build, snakemake, write_catalogue

RULE = '''"""Second place: for a test."""

from typing import Literal

import numpy as np

from ttrlab.rewards.base import Rule, match_rewards
from ttrlab.types import RewardDecision, RolloutGroup


class SecondPlace(Rule):
    """label = the second most frequent answer;  r_i = scale 1[a_i = label];  abstains with fewer than two answers."""

    rule: Literal["second_place"] = "second_place"
    scale: float = 1.0

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward agreement with the runner-up."""
        if group.n_classes < 2:
            return RewardDecision(np.zeros(group.n), None, abstained=True)
        label = int(np.argsort(-group.counts, kind="stable")[1])
        return RewardDecision(self.scale * match_rewards(group, label), label)
'''


def test_a_new_rule_is_one_file_and_its_name_in_the_union(tmp_path, monkeypatch):
    assert len(RULE.splitlines()) <= 40
    package = tmp_path / "src" / "ttrlab"
    shutil.copytree(ROOT / "src" / "ttrlab", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "rewards" / "second_place.py").write_text(RULE)
    union = package / "rewards" / "__init__.py"
    named = union.read_text().replace("    Majority | Oracle", "    SecondPlace | Majority | Oracle", 1)
    union.write_text(
        named.replace("from ttrlab.rewards.truer", "from ttrlab.rewards.second_place import SecondPlace\nfrom ttrlab.rewards.truer")
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "src"), os.environ.get("PYTHONPATH", "")]))
    folder = tmp_path / "study"
    folder.mkdir()
    build(folder)
    write_catalogue(folder, "methods", {**METHODS, "second": {"reward": {"rule": "second_place", "scale": 0.5}}})
    (folder / "study.yaml").write_text(yaml.safe_dump({**STUDY, "methods": ["base", "second"]}))
    done = snakemake(folder, "--quiet", "rules", "progress", "--", "all", "replays")
    assert done.returncode == 0, done.stdout + done.stderr
    results = folder / "results" / "tiny"
    assert {"base", "second"} == set(pd.read_csv(results / "summary.csv").method)
    assert "second" in (results / "tables" / "main.md").read_text()
    assert "second" in (results / "figures" / "endpoints.svg").read_text()
    assert (results / "cells/tiny/sums/second/seed0/replay/audit.csv").exists()
