"""The grids of the three papers: which cells, and the settings that their texts and released scripts give."""

from pathlib import Path

import pytest

from ttrlab.config.catalogue import BOXED, KINDS, LETTER, Catalogue, Method, read_yaml
from ttrlab.config.study import Cell, Plan, Study

CONFIG = Path(__file__).resolve().parents[2] / "config"


def entries(kind):
    return {name: entry for path in (CONFIG / kind).glob("*.yaml") for name, entry in KINDS[kind].validate_python(read_yaml(path)).items()}


def plan(name):
    """The study with every method reduced to a name: what is tested here does not depend on rules."""
    study = Study.model_validate(read_yaml(CONFIG / f"{name}.yaml"))
    return Plan(
        study=study,
        catalogue=Catalogue(
            models=entries("models"), benchmarks=entries("benchmarks"), methods={method: Method() for method in study.methods}
        ),
    )


@pytest.mark.parametrize("name, pairs, seeds", [("config", 42, 3), ("scope", 16, 3), ("truer", 7, 1)])
def test_a_paper_has_its_number_of_model_benchmark_pairs(name, pairs, seeds):
    study = plan(name).study
    assert (len(study.model_benchmarks), len(study.seeds)) == (pairs, seeds)


@pytest.mark.parametrize(
    "name, model, benchmark, expected",
    [
        ("config", "qwen2.5-math-7b", "aime24", {"votes": 64, "train": 64, "batch": 8, "mini_batch": 1, "episodes": 80}),
        ("config", "qwen3-8b", "amc", {"batch": 8, "episodes": 30}),
        ("config", "mistral-nemo-instruct", "math-l4", {"batch": 32, "episodes": 10}),
        ("scope", "qwen3-1.7b", "aime25", {"train": 64, "batch": 8, "episodes": 200}),
        ("scope", "qwen3-1.7b", "math500", {"batch": 32, "episodes": 30}),
        ("truer", "qwen2.5-math-1.5b", "math370", {"votes": 32, "train": 32, "batch": 32, "updates": 90, "warmup_steps": 3}),
        ("truer", "llama-3.1-8b-instruct", "math370", {"batch": 32, "updates": 120}),
        ("truer", "llama-3.1-8b-instruct", "amc23", {"batch": 10, "updates": 120}),
        ("truer", "qwen3-1.7b", "aime24", {"batch": 10, "updates": 120}),
        ("truer", "qwen3-4b", "math-l5-600", {"batch": 10, "updates": 240}),
    ],
)
def test_a_cell_is_trained_as_its_paper_says(name, model, benchmark, expected):
    study = plan(name)
    training = study.training(Cell(model, benchmark, "majority", study.study.seeds[0]))
    assert {key: value for key, value in training.model_dump().items() if key in expected} == expected


@pytest.mark.parametrize(
    "name, model, benchmark, temperature, prompt, response",
    [
        ("config", "qwen2.5-math-1.5b", "math500", 1.0, 1024, 3072),
        ("config", "llama-3.1-8b-instruct", "aime24", 0.6, 512, 3072),
        ("config", "qwen2.5-math-7b", "gpqa-diamond", 1.0, 2048, 2048),
        ("config", "qwen3-8b", "gpqa-diamond", 0.6, 2048, 3072),
        ("truer", "qwen3-1.7b", "aime24", 1.0, 2048, 4096),
        ("truer", "qwen2.5-math-1.5b", "math370", 1.0, 1024, 3072),
        ("truer", "llama-3.1-8b-instruct", "amc23", 1.0, 1024, 4096),
    ],
)
def test_a_cell_samples_as_its_paper_says(name, model, benchmark, temperature, prompt, response):
    study = plan(name)
    sampling = study.sampling(Cell(model, benchmark, "majority", study.study.seeds[0]))
    assert (sampling.temperature, sampling.max_prompt_tokens, sampling.max_new_tokens) == (temperature, prompt, response)


@pytest.mark.parametrize("name", ["config", "scope"])
def test_models_with_a_context_of_4096_tokens_have_room_for_prompt_and_response(name):
    study = plan(name)
    short = [cell for cell in study.cells if "math-" in cell.model]
    assert short
    assert all(study.sampling(cell).max_prompt_tokens + study.sampling(cell).max_new_tokens <= 4096 for cell in short)


def test_every_hub_model_is_pinned_to_a_commit_and_knows_its_size():
    for name, model in entries("models").items():
        if model.source == "hub":
            assert len(model.revision) == 40, name
            assert model.parameters is not None, name


def test_qwen_math_is_told_nothing_twice_but_is_asked_for_a_letter():
    prompt = entries("models")["qwen2.5-math-1.5b"].prompt
    assert prompt.messages("2+2?", "math") == [{"role": "user", "content": "2+2?"}]
    assert prompt.messages("Which?", "choice") == [{"role": "user", "content": f"Which?\n{LETTER}"}]


@pytest.mark.parametrize("name", ["qwen3-8b", "llama-3.1-8b-instruct", "deepseek-math-7b", "qwen2.5-7b"])
def test_other_models_get_the_sentence_after_a_newline_in_the_users_turn(name):
    assert entries("models")[name].prompt.messages("2+2?", "math") == [{"role": "user", "content": f"2+2?\n{BOXED}"}]


@pytest.mark.parametrize("name", ["qwen3-1.7b", "qwen3-4b", "qwen3-8b"])
def test_qwen3_does_not_think_aloud(name):
    assert entries("models")[name].prompt.template_arguments == {"enable_thinking": False}
