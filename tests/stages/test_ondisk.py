"""Folders and files that a study names by path are refused at planning where they cannot serve."""

import json
import re

import pytest
import yaml

from ttrlab.stages.plan import load_plan

STUDY = {
    "study": "own",
    "models": ["mine"],
    "benchmarks": ["questions"],
    "methods": ["base"],
    "seeds": [0],
    "evaluation": {"samples": 2, "metrics": ["mean@2"]},
}


@pytest.fixture
def catalogue(tmp_path):
    """A catalogue folder with a model by path and a benchmark by path; neither is there yet."""
    entries = {
        "models": {"mine": {"source": "path", "path": str(tmp_path / "model")}},
        "benchmarks": {"questions": {"source": "path", "path": str(tmp_path / "q.jsonl"), "rows": 1}},
        "methods": {"base": {}},
    }
    for kind, named in entries.items():
        (tmp_path / "config" / kind).mkdir(parents=True)
        (tmp_path / "config" / kind / "mine.yaml").write_text(yaml.safe_dump(named))
    return tmp_path / "config"


def make_model(folder, **tokenizer):
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))


def test_a_model_folder_that_is_not_there_is_refused_by_its_key(catalogue, tmp_path):
    with pytest.raises(ValueError, match=re.escape(f"models.mine.path: {tmp_path}/model has no config.json")):
        load_plan(STUDY, catalogue)


def test_a_tokenizer_without_a_chat_template_is_refused_with_the_key_to_set(catalogue, tmp_path):
    make_model(tmp_path / "model")
    with pytest.raises(ValueError, match=re.escape("models.mine.prompt.template is 'chat'") + ".*" + re.escape("{template: plain}")):
        load_plan(STUDY, catalogue)


def test_a_benchmark_file_that_is_not_there_is_refused_by_its_key(catalogue, tmp_path):
    make_model(tmp_path / "model", chat_template="{{ messages }}")
    with pytest.raises(ValueError, match=re.escape(f"benchmarks.questions.path: {tmp_path}/q.jsonl is no file")):
        load_plan(STUDY, catalogue)


@pytest.mark.parametrize("place", ["key", "file"])
def test_what_is_there_is_planned(catalogue, tmp_path, place):
    make_model(tmp_path / "model", **({"chat_template": "{{ messages }}"} if place == "key" else {}))
    if place == "file":
        (tmp_path / "model" / "chat_template.jinja").write_text("{{ messages }}")
    (tmp_path / "q.jsonl").write_text('{"problem": "1", "answer": "1"}\n')
    assert load_plan(STUDY, catalogue).study.study == "own"
