import json
from dataclasses import replace

import pytest

from ttrlab.benchmarks import Gold, Loaded, read_gold, read_questions, write_benchmark, write_split
from ttrlab.files import sha256
from ttrlab.types import Question


@pytest.fixture
def loaded():
    questions = (Question("b", "What is $1+1$?"), Question("a", "Was ist ½ + ½?"))
    return Loaded(questions, {"a": "1", "b": "2"}, {"a": {"level": 3}, "b": {}})


def test_questions_and_gold_come_back_as_written_and_in_order(tmp_path, loaded):
    write_benchmark(loaded, tmp_path / "questions.jsonl", tmp_path / "gold.jsonl")
    assert read_questions(tmp_path / "questions.jsonl") == loaded.questions
    assert read_gold(tmp_path / "gold.jsonl") == {"b": Gold("2", {}), "a": Gold("1", {"level": 3})}


def test_the_questions_file_holds_id_and_prompt_and_nothing_else(tmp_path, loaded):
    write_benchmark(loaded, tmp_path / "questions.jsonl", tmp_path / "gold.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [set(row) for row in rows] == [{"id", "prompt"}] * 2


def test_the_hash_of_the_questions_does_not_depend_on_gold_or_tags(tmp_path, loaded):
    poisoned = replace(loaded, gold={"a": "poison", "b": "poison"}, tags={"a": {}, "b": {"regime": "trap"}})
    for name, value in (("clean", loaded), ("poisoned", poisoned)):
        write_benchmark(value, tmp_path / f"{name}.questions.jsonl", tmp_path / f"{name}.gold.jsonl")
    assert sha256(tmp_path / "clean.questions.jsonl") == sha256(tmp_path / "poisoned.questions.jsonl")
    assert sha256(tmp_path / "clean.gold.jsonl") != sha256(tmp_path / "poisoned.gold.jsonl")


def test_a_gold_file_cannot_be_read_as_questions(tmp_path, loaded):
    write_benchmark(loaded, tmp_path / "questions.jsonl", tmp_path / "gold.jsonl")
    with pytest.raises(ValueError, match=r"gold\.jsonl, row 1: expected the keys \['id', 'prompt'\], got \['answer', 'id', 'tags'\]"):
        read_questions(tmp_path / "gold.jsonl")


@pytest.mark.parametrize(
    "row, message",
    [
        ({"id": "a", "prompt": "x", "answer": "1"}, r"row 2: expected the keys"),
        ({"id": "a", "prompt": 3}, r"row 2, 'prompt': expected str, got int"),
        ({"id": "first", "prompt": "x"}, r"row 2, 'id': 'first' stands already in row 1"),
        (["a", "x"], r"row 2: expected the keys .* got list"),
    ],
)
def test_a_broken_questions_file_is_refused_by_row(tmp_path, row, message):
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"id": "first", "prompt": "x"}) + "\n" + json.dumps(row) + "\n")
    with pytest.raises(ValueError, match=message):
        read_questions(path)


def test_an_empty_questions_file_is_refused(tmp_path):
    (tmp_path / "questions.jsonl").write_text("")
    with pytest.raises(ValueError, match="no rows"):
        read_questions(tmp_path / "questions.jsonl")


@pytest.mark.parametrize(
    "gold, tags, message",
    [
        ({"a": "1"}, {"a": {}, "b": {}}, r"gold must have exactly the questions' ids, differing: \['b'\]"),
        ({"a": "1", "b": "2"}, {}, "tags"),
    ],
)
def test_gold_and_tags_are_those_of_the_questions(loaded, gold, tags, message):
    with pytest.raises(ValueError, match=message):
        Loaded(loaded.questions, gold, tags)


def test_doubled_ids_are_refused(loaded):
    with pytest.raises(ValueError, match=r"doubled: \['a'\]"):
        Loaded((*loaded.questions, Question("a", "again")), loaded.gold, loaded.tags)


def test_a_split_is_written_with_a_hash_of_each_part(tmp_path, loaded):
    write_split(replace(loaded, parts={"fit": ("a",), "target": ("b",)}), tmp_path / "split.json")
    written = json.loads((tmp_path / "split.json").read_text())
    assert {part: entry["ids"] for part, entry in written.items()} == {"fit": ["a"], "target": ["b"]}
    assert len({entry["sha256"] for entry in written.values()}) == 2


def test_a_benchmark_without_a_split_has_none_to_write(tmp_path, loaded):
    with pytest.raises(ValueError, match="no part of a split"):
        write_split(loaded, tmp_path / "split.json")
