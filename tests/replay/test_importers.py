"""Other tools' files as rows; what cannot be read is named by file and line."""

import gzip
import json

import numpy as np
import pytest

from tests.replay.adapted import QUESTIONS
from ttrlab.replay.rows import Fault, Located, pool_files
from ttrlab.replay.survey import open_pool
from ttrlab.types import Question


def read(path, lines, questions=(), **kwargs):
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    items = list(open_pool(path, "math", questions, **kwargs).items())
    return [i.row for i in items if isinstance(i, Located)], [(i.line, i.reason) for i in items if isinstance(i, Fault)]


def box(answer):
    return f"so \\boxed{{{answer}}}"


def test_plain_lines_become_groups_with_the_confidence_that_they_hold(tmp_path):
    lines = [{"question_id": q, "text": box(a), "logprobs": [-0.5, -1.5], "gold": "7"} for q, a in (("a", 1), ("a", 2), ("b", 3))]
    rows, faults = read(tmp_path / "x.jsonl", lines)
    assert [(row.question_id, row.answers, row.tokens) for row in rows] == [("a", ("1", "2"), (2, 2)), ("b", ("3",), (2,))]
    assert rows[0].signals["mean_logprob"].tolist() == [-1.0, -1.0]
    assert faults == []


def test_without_log_probs_there_is_no_confidence(tmp_path):
    rows, _ = read(tmp_path / "x.jsonl", [{"question_id": 4, "text": "no box"}])
    assert (rows[0].question_id, rows[0].answers, dict(rows[0].signals)) == ("4", (None,), {})


def test_every_bad_plain_line_is_named(tmp_path):
    good = {"question_id": "a", "text": "t"}
    bad = [
        '{"question_id": "a", "te\n', "[1]\n", {"question_id": "a"}, {**good, "logprobs": "x"}, {**good, "step": -1},
        {**good, "truncated": 1}, {"question_id": None, "text": "t"},
    ]  # fmt: skip
    rows, faults = read(tmp_path / "x.jsonl", [good, *bad, good, {**good, "question_id": "b"}, good])
    assert [line for line, _ in faults] == [2, 3, 4, 5, 6, 7, 8, 11]
    assert faults[-1][1] == "question 'a', step 0: its roll-outs do not stand together"
    assert [(row.question_id, len(row.texts)) for row in rows] == [("a", 2), ("b", 1)]


def test_nan_log_probs_are_a_fault_of_the_group(tmp_path):
    rows, faults = read(tmp_path / "x.jsonl", ['{"question_id": "a", "text": "t", "logprobs": [NaN]}\n'])
    assert not rows
    assert "expected a finite number" in faults[0][1]


def test_a_verl_dump_is_grouped_by_prompt_within_a_step_however_shuffled(tmp_path):
    texts = [("1+1=", 2, 1), ("2+2=", 4, 1), ("1+1=", 3, 1), ("1+1=", 2, 2)]
    lines = [{"input": f"<|user|>{q} Box it.", "output": box(a), "step": s, "gts": "9", "score": 1.0} for q, a, s in texts]
    rows, faults = read(tmp_path / "1.jsonl", lines, QUESTIONS)
    assert [(row.question_id, row.step, row.answers) for row in rows] == [("q1", 1, ("2", "3")), ("q2", 1, ("4",)), ("q1", 2, ("2",))]
    assert faults == []


def test_a_prompt_of_no_question_is_a_fault_and_the_longest_question_is_meant(tmp_path):
    nested = (Question("short", "1+1="), Question("long", "1+1+1="), Question("other", "11+1="))
    lines = [{"input": text, "output": "x"} for text in ("say 11+1= now", "nothing")]
    rows, faults = read(tmp_path / "1.jsonl", lines, nested)
    assert [row.question_id for row in rows] == ["other"]
    assert faults == [(2, "0 of 3 questions stand in the prompt 'nothing', expected one")]


def test_prompts_without_questions_are_known_by_their_hash(tmp_path):
    rows, _ = read(tmp_path / "1.jsonl", [{"input": "p", "output": box(i)} for i in range(3)])
    assert (len(rows), len(rows[0].texts)) == (1, 3)
    assert rows[0].question_id.startswith("prompt-")


def test_an_openrlhf_executor_s_log_probs_are_those_of_its_actions(tmp_path):
    line = {
        "prompt": "p", "response": box(1), "rollout_log_probs": [0, 0, -1, -3], "action_ranges": [[2, 4]], "truncated": True,
        "label": "gold",
    }  # fmt: skip
    rows, faults = read(tmp_path / "x.jsonl", [line, {**line, "prompt": "r", "action_ranges": None}])
    assert rows[0].signals["mean_logprob"].tolist() == [-2.0]
    assert rows[0].truncated == (True,)
    assert [number for number, _ in faults] == [2]


@pytest.mark.parametrize("arguments", [[["2+2=", {}]], {"gen_args_0": {"arg_0": "2+2=", "arg_1": {}}}])
def test_a_harness_sample_is_a_group_once_whatever_the_number_of_filters(tmp_path, arguments):
    sample = {"doc_id": 5, "resps": [[box(1), box(2)]], "arguments": arguments, "target": "4"}
    lines = [{**sample, "filter": "first"}, {**sample, "filter": "second"}, {**sample, "filter": "first", "resps": [[[-1.0, True]]]}]
    rows, faults = read(tmp_path / "samples_x.jsonl", lines)
    assert [(row.question_id, row.answers) for row in rows] == [("5", ("1", "2"))]
    assert [number for number, _ in faults] == [3]
    assert read(tmp_path / "samples_y.jsonl", lines[:1], QUESTIONS)[0][0].question_id == "q2"


def test_an_unknown_format_says_what_is_known(tmp_path):
    with pytest.raises(ValueError, match=r"line 1: unknown format with the keys \['a'\]; known are pool: "):
        read(tmp_path / "x.jsonl", [{"a": 1}])


def pool_line(**changes):
    row = {
        "pool": 1, "question_id": "q1", "step": 1, "seed": 1, "texts": ["a", "b"], "answers": ["1", None], "truncated": [False, True],
        "tokens": [1, 2], "signals": {"mean_logprob": [-1.0, -2.0]},
    }  # fmt: skip
    return {**row, **changes}


@pytest.mark.parametrize(
    "changes",
    [
        {"pool": 2}, {"texts": ["a"]}, {"texts": [1, 2]}, {"answers": [1, 2]}, {"truncated": [0, 1]}, {"tokens": ["1", "2"]}, {"seed": "x"},
        {"signals": {"mean_logprob": ["a", "b"]}}, {"signals": {"mean_logprob": [[1], [2]]}}, {"signals": [1]}, {"question_id": ""},
        {"step": -1}, {"texts": None},
    ],
)  # fmt: skip
def test_a_malformed_pool_row_is_a_named_fault(tmp_path, changes):
    rows, faults = read(tmp_path / "p.jsonl", [pool_line(), pool_line(**changes), pool_line()])
    assert len(rows) == 2
    assert [number for number, _ in faults] == [2]


def test_a_compressed_file_that_ends_early_is_a_fault_where_it_ends(tmp_path):
    rng = np.random.default_rng(0)
    packed = gzip.compress("".join(json.dumps(pool_line(texts=[rng.bytes(2000).hex(), "b"])) + "\n" for _ in range(40)).encode())
    (tmp_path / "p.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    items = list(open_pool(tmp_path, "math").items())
    assert 5 < len(items) < 40
    assert isinstance(items[-1], Fault)
    assert (items[-1].line, "cannot be read further" in items[-1].reason) == (len(items), True)


def test_files_of_a_folder_are_read_in_the_order_of_their_numbers(tmp_path):
    for name in ("10.jsonl", "9.jsonl", "notes.txt", ".hidden.jsonl"):
        (tmp_path / name).touch()
    assert [path.name for path in pool_files(tmp_path)] == ["9.jsonl", "10.jsonl"]
    with pytest.raises(ValueError, match="no pool; expected a file"):
        pool_files(tmp_path / "nowhere")
