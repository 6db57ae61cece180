"""What a study says of its judging before a run: names that are there, papers that have a table, rules that are kept."""

import pytest

from tests.config.test_study import plan_of  # noqa: F401
from ttrlab.config.evidence import Evidence
from ttrlab.stages.plan import changed_rules, fix_rules


def test_a_name_or_member_that_the_study_lacks_is_refused_by_key(plan_of):  # noqa: F811
    with pytest.raises(ValueError, match=r"evidence\.names: 'core' is no model, benchmark or method of the study"):
        plan_of({"evidence": {"names": {"core": "CoRE"}}})
    with pytest.raises(ValueError, match=r"evidence\.benchmarks\.all: 'huge' is none of the study's benchmarks"):
        plan_of({"evidence": {"benchmarks": {"all": ["small", "huge"]}}})


def test_a_paper_without_a_table_is_refused(plan_of, tmp_path):  # noqa: F811
    with pytest.raises(ValueError, match="unknown name 'core'.*has no tables"):
        plan_of({"evidence": {"papers": ["core"]}})
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "core.csv").touch()
    assert plan_of({"evidence": {"papers": ["core"]}}).study.evidence.papers == ("core",)


def test_one_paper_name_for_two_of_ours_is_refused():
    with pytest.raises(ValueError, match="CoRE stands for several"):
        Evidence(names={"core": "CoRE", "core_block": "CoRE"})


def test_rules_are_fixed_once_and_a_later_change_is_told(plan_of, tmp_path):  # noqa: F811
    path = tmp_path / "rules.json"
    fix_rules(plan_of(), path)
    moved = plan_of({"evidence": {"verdict": {"tolerance": 9}, "plateau_tail": 2}})
    fix_rules(moved, path)
    assert changed_rules(moved.study.evidence, path) == {"verdict.tolerance": "2.0 -> 9.0", "plateau_tail": "1.0 -> 2.0"}
    assert changed_rules(plan_of().study.evidence, path) == {}
