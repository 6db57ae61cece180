"""TRUER's studies against the shipped catalogue: which rectifiers they train, and which cells share one."""

from pathlib import Path

import pytest

from ttrlab.config.catalogue import read_yaml
from ttrlab.stages.judges import JudgeJobs
from ttrlab.stages.plan import Jobs, load_plan

CONFIG = Path(__file__).resolve().parents[2] / "config"


def jobs(name, **changes):
    return JudgeJobs(Jobs(load_plan(read_yaml(CONFIG / f"{name}.yaml") | changes, CONFIG), "results"))


def rectifiers_of(judges, method):
    return {cell.benchmark: judges.files(cell)[0] for cell in judges.plan.cells if cell.method == method}


@pytest.mark.parametrize("name, rectifiers", [("truer", 0), ("truer-seeds", 1), ("truer-untrained", 4), ("lab-truer", 1)])
def test_a_study_plans_and_trains_so_many_rectifiers(name, rectifiers):
    judges = jobs(name)
    assert len(judges.rectifiers) == rectifiers
    for rectifier in judges.rectifiers:
        assert judges.train(rectifier)
        assert judges.label(rectifier)


def test_table_4_holds_one_rectifier_fixed_over_three_seeds():
    judges = jobs("truer-seeds")
    cells = [cell for cell in judges.plan.cells if cell.method == "truer"]
    assert len(cells) == 3
    assert len({tuple(judges.files(cell)) for cell in cells}) == 1


def test_a_rectifier_serves_another_benchmark_than_its_own_and_is_trained_once():
    judges = jobs("truer-seeds", benchmarks=["amc23", "math370"])
    assert len(judges.rectifiers) == 1
    (source,) = judges.sources
    assert judges.sources[source].benchmarks == ("amc24-fit", "amc24-calibration")
    assert {Path(file).parent.name for file in judges.targets(source)} == {"amc23", "math370"}


def test_rank_1_only_asks_the_rectifier_of_the_whole_cascade():
    judges = jobs("lab-truer")
    assert rectifiers_of(judges, "truer_rank1") == rectifiers_of(judges, "truer")


def test_an_untrained_judge_waits_for_no_rectifier():
    judges = jobs("truer-untrained")
    cells = [cell for cell in judges.plan.cells if cell.method.endswith("untrained")]
    assert len(cells) == 4
    assert not any("rectifiers" in file for cell in cells for file in judges.files(cell))
