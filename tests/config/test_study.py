import pytest
import yaml

from ttrlab.config.settings import Training, TrainingOverride, overridden
from ttrlab.config.specs import adapt_spec, evaluate_spec
from ttrlab.config.study import Cell, _catalogue, make_plan

CATALOGUE = {
    "models": {"tiny": {"source": "path", "path": "m"}, "cool": {"source": "hub", "id": "a/b", "sampling": {"temperature": 0.6}}},
    "benchmarks": {
        "small": {"source": "path", "path": "b.jsonl", "rows": 5, "training": {"episodes": 7}},
        "large": {"source": "path", "path": "c.jsonl", "rows": 50, "kind": "integer"},
    },
    "methods": {
        "base": {},
        "majority": {"reward": {"rule": "majority"}},
        "oracle": {"reward": {"rule": "oracle"}, "gold": True, "training": {"learning_rate": 1e-3}},
    },
}
STUDY = {
    "study": "s", "models": ["tiny", "cool"], "benchmarks": ["small", "large"], "methods": ["base", "majority", "oracle"], "seeds": [0, 1],
    "training": {"votes": 8, "train": 4, "batch": 4, "episodes": 3},
}  # fmt: skip


@pytest.fixture
def plan_of(tmp_path):
    def make(study=None, **catalogue):
        for kind, entries in {**CATALOGUE, **catalogue}.items():
            (tmp_path / kind).mkdir(exist_ok=True)
            (tmp_path / kind / "all.yaml").write_text(yaml.safe_dump(entries))
        _catalogue.cache_clear()
        return make_plan({**STUDY, **(study or {})}, tmp_path)

    return make


def test_the_grid_is_the_product_in_the_order_of_the_study(plan_of):
    cells = plan_of().cells
    assert len(cells) == 2 * 2 * 3 * 2
    assert cells[0] == Cell("tiny", "small", "base", 0)
    assert cells[-1].path == "cool/large/oracle/seed1"


def test_pairs_stand_in_place_of_the_product(plan_of):
    plan = plan_of({"models": [], "benchmarks": [], "pairs": [["tiny", "large"]], "methods": ["base"]})
    assert [cell.path for cell in plan.cells] == ["tiny/large/base/seed0", "tiny/large/base/seed1"]


def test_settings_merge_from_study_to_benchmark_to_model_to_method_to_matching_settings(plan_of):
    plan = plan_of({"settings": [{"when": {"method": ["majority"], "benchmark": "small"}, "training": {"learning_rate": 2e-5}}]})
    assert plan.training(Cell("tiny", "small", "majority", 0)).episodes == 7
    assert plan.training(Cell("tiny", "large", "majority", 0)).episodes == 3
    assert plan.training(Cell("tiny", "small", "majority", 0)).learning_rate == 2e-5
    assert plan.training(Cell("tiny", "small", "oracle", 0)).learning_rate == 1e-3
    assert plan.sampling(Cell("cool", "small", "oracle", 0)).temperature == 0.6


@pytest.mark.parametrize(
    "change, culprit",
    [
        ({"trianing": {}}, r"trianing"),
        ({"training": {"vots": 3}}, r"training\.vots"),
        ({"training": {"kl_coefficient": float("inf")}}, r"kl_coefficient: Input should be a finite number"),
        ({"training": {"betas": [0.9, float("nan")]}}, r"betas\.1: Input should be a finite number"),
        ({"sampling": {"temperature": float("inf")}}, r"temperature: Input should be a finite number"),
        ({"models": ["tiny", "huge"]}, r"unknown name 'huge'; the catalogue has cool, tiny"),
        ({"methods": ["base", "magic"]}, r"methods: unknown name 'magic'"),
        ({"settings": [{"when": {"method": "magic"}}]}, r"methods: unknown name 'magic'"),
        ({"training": {"votes": 2, "train": 4}}, r"cell tiny/small/.*votes=2, train=4"),
        ({"training": {"votes": 8, "train": 4, "batch": 6, "last_batch": "drop"}}, r"last_batch=drop leaves nothing of 5 rows"),
        ({"seeds": [0, 0]}, r"seeds: 0 given twice"),
        ({"seeds": []}, r"seeds"),
        ({"seeds": [2**32]}, r"seeds\.0: Input should be less than 4294967296"),
        ({"training": {"betas": [0.9, 1.5]}}, r"betas\.1: Input should be less than 1"),
        ({"training": {"votes": True}}, r"votes: expected a number, got true"),
        ({"training": {"votes": 4, "train": 1}}, r"train: Input should be greater than or equal to 2"),
        ({"sampling": {"temperature": 0}}, r"cell tiny/small/majority/seed0: sampling\.temperature is 0"),
        ({"evaluation": {"metrics": []}}, r"evaluation\.metrics: .*at least 1 item"),
        ({"evaluation": {"metrics": ["mean@04"]}}, r"'mean@04' is not mean@k"),
        ({"evaluation": {"metrics": ["mean@4", "mean@4"]}}, r"mean@4 given twice"),
        ({"evaluation": {"metrics": ["mean@64"]}}, r"mean@64.*needs 64 samples"),
        ({"evaluation": {"metrics": ["meen@4"]}}, r"meen@4"),
        ({"models": [], "benchmarks": []}, r"pairs, or models and benchmarks|must both"),
        ({"study": "../x"}, r"study"),
    ],
)
def test_a_study_that_cannot_run_is_refused_with_the_key(plan_of, change, culprit):
    with pytest.raises(ValueError, match=culprit):
        plan_of(change)


@pytest.mark.parametrize(
    "method, culprit",
    [
        ({"reward": {"rule": "oracle"}}, "asks for gold, but the method does not say gold: true"),
        ({"reward": {"rule": "majority"}, "gold": True}, "no rule of this method reads it"),
        ({"reward": {"rule": "majority", "kapa": 1}}, r"reward\.majority\.kapa"),
        ({"reward": {"rule": "majorty"}}, "majorty"),
        ({"reward": {"rule": "core", "kappa": float("inf")}}, r"kappa: Input should be a finite number"),
        ({"reward": {"rule": "majority"}, "judge": {"model": "tiny"}}, "judge: given, but no rule of this method asks one"),
    ],
)
def test_a_method_that_makes_no_sense_is_refused_with_file_and_key(plan_of, method, culprit):
    with pytest.raises(ValueError, match=rf"(?s)all\.yaml.*{culprit}"):
        plan_of(methods={"base": {}, "majority": method, "oracle": {}})


def test_a_name_defined_twice_names_both_files(plan_of, tmp_path):
    plan_of()
    (tmp_path / "models" / "more.yaml").write_text(yaml.safe_dump({"tiny": {"source": "path", "path": "x"}}))
    _catalogue.cache_clear()
    with pytest.raises(ValueError, match=r"more\.yaml: 'tiny' is already defined in .*all\.yaml"):
        make_plan(STUDY, tmp_path)


def test_an_adapt_spec_changes_with_its_own_method_only(plan_of):
    cell, other = Cell("tiny", "small", "majority", 0), Cell("tiny", "small", "oracle", 0)
    before, after = plan_of(), plan_of(methods={**CATALOGUE["methods"], "oracle": {**CATALOGUE["methods"]["oracle"], "training": {}}})
    assert adapt_spec(before, cell) == adapt_spec(after, cell)
    assert adapt_spec(before, other) != adapt_spec(after, other)


def test_an_adapt_spec_does_not_change_with_the_evaluation(plan_of):
    cell = Cell("tiny", "small", "majority", 0)
    changed = plan_of({"evaluation": {"samples": 8, "metrics": ["mean@8"]}})
    assert adapt_spec(plan_of(), cell) == adapt_spec(changed, cell)
    assert evaluate_spec(plan_of(), cell, (3,), True) != evaluate_spec(changed, cell, (3,), True)


def test_base_has_no_adaptation(plan_of):
    with pytest.raises(ValueError, match="no adapt job"):
        adapt_spec(plan_of(), Cell("tiny", "small", "base", 0))


def test_an_override_changes_only_what_it_sets():
    changed = overridden(Training(), TrainingOverride(votes=128), None, TrainingOverride(train=16))
    assert (changed.votes, changed.train, changed.batch) == (128, 16, Training().batch)


def test_a_rule_that_asks_a_judge_is_refused_without_one_and_brings_its_model(plan_of):
    methods = {**CATALOGUE["methods"], "truer": {"reward": {"rule": "truer"}}}
    with pytest.raises(ValueError, match=r"methods\.truer: rule 'truer' needs a judge"):
        plan_of({"methods": ["truer"]}, methods=methods)
    methods["truer"]["judge"] = {"model": "cool"}
    plan = plan_of({"methods": ["truer"], "models": ["tiny"]}, methods=methods)
    spec = adapt_spec(plan, Cell("tiny", "small", "truer", 0))
    assert spec.judge is not None
    assert spec.judge.form.revision == "main"
    methods["truer"]["judge"] = {"model": "huge"}
    with pytest.raises(ValueError, match="unknown name 'huge'"):
        plan_of({"methods": ["truer"]}, methods=methods)
