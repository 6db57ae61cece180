"""The shipped methods: complete, loadable, and each rule explained."""

from pathlib import Path
from typing import get_args

import pytest

from ttrlab.config.catalogue import load_catalogue
from ttrlab.rewards import RewardRule

ROOT = Path(__file__).parents[2]
METHODS = load_catalogue(ROOT / "config").methods
RULES = [rule.model_fields["rule"].default for rule in get_args(get_args(RewardRule)[0])]


def test_only_the_base_has_no_reward_and_only_the_oracle_reads_gold():
    assert [name for name, method in METHODS.items() if method.reward is None] == ["base"]
    assert [name for name, method in METHODS.items() if method.gold] == ["oracle"]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_method_and_a_row_in_the_documentation(rule):
    assert rule in {method.reward.rule for method in METHODS.values() if method.reward}
    assert f"| `{rule}` |" in (ROOT / "docs" / "rules.md").read_text()


def test_no_two_methods_are_the_same_by_accident():
    seen = {}
    for name, method in METHODS.items():
        seen.setdefault(method.model_dump_json(), []).append(name)
    judged = ["truer", "truer_untrained", "truer_small", "truer_small_untrained"]  # a study gives each its judge
    assert [names for names in seen.values() if len(names) > 1] == [["scope", "scope_lambda05"], judged]


def test_no_method_decides_how_many_rollouts_a_study_draws():
    for name, method in METHODS.items():
        if method.training is not None:
            assert not method.training.model_fields_set & {"votes", "train", "learning_rate"}, name
