from pathlib import Path

import pytest

from ttrlab.config.catalogue import read_yaml
from ttrlab.stages.plan import load_plan

CONFIG = Path(__file__).resolve().parents[2] / "config"


def test_a_warm_up_longer_than_the_run_is_refused_with_both_numbers():
    study = read_yaml(CONFIG / "demo.yaml")
    study["settings"] = [{"training": {"updates": 4, "warmup_steps": 4, "mini_batch": 8, "batch": 8, "votes": 4, "train": 4}}]
    with pytest.raises(ValueError, match=r"cell .*: warmup_steps=4, but the whole run makes 4 updates"):
        load_plan(study, CONFIG)
