import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttrlab.files import dumps
from ttrlab.rectifier.judgement import UNRESOLVED, Judgement, conflicts, read_judgement

CASES = [json.loads(line) for line in (Path(__file__).parent / "data" / "judgements.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_every_output_has_one_reading(case):
    found = read_judgement(case["text"], case.get("truncated", False))
    assert found == Judgement(case["score"], case["reason"], case["fault"])


def test_the_table_of_outputs_is_large_and_names_each_case_once():
    assert len(CASES) >= 40
    assert len({case["name"] for case in CASES}) == len(CASES)


HOSTILE = {
    "open braces": "{" * 200_000,
    "open objects": '{"a":' * 40_000,
    "open arrays in an object": '{"a":' + "[" * 200_000,
    "open quotes": '{"' * 100_000,
    "an unterminated string of starts": '{"' + '{\\"' * 70_000,
    "escaped backslashes": '{"reason": "' + "\\\\" * 100_000,
    "white space": "{" + " " * 200_000 + "{ " * 1000,
    "digits": '{"reason": "x", "score": ' + "9" * 200_000 + "}",
    "a long exponent": '{"reason": "x", "score": 1e' + "9" * 200_000 + "}",
    "empty objects": "{}" * 100_000,
    "objects": '{"a":1}' * 30_000,
    "doubled keys": '{"reason": "x", ' + '"score": 1, ' * 20_000 + '"score": 1}',
    "closing tags": "</think>" * 30_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_outputs_are_unresolved_within_a_second(name):
    start = time.process_time()
    found = read_judgement(HOSTILE[name])
    assert found.score == UNRESOLVED
    assert found.fault in {"no object", "malformed object", "score", "reason"}
    assert time.process_time() - start < 1


@pytest.mark.parametrize("reason", ["." * 200_000, ". " * 100_000, "not " * 60_000, "correct " * 30_000, "a-" * 100_000, ",;" * 100_000])
def test_hostile_reasons_cost_linear_time(reason):
    start = time.process_time()
    assert conflicts(Judgement(2, reason)) in {True, False}
    assert time.process_time() - start < 1


def test_an_object_after_a_hostile_prefix_is_still_read():
    assert read_judgement('{"' * 100 + '\n{"reason": "ok", "score": 8}') == Judgement(8, "ok")


@given(st.text())
def test_any_text_has_a_reading_that_can_be_stored(text):
    found = read_judgement(text)
    assert (found.score == UNRESOLVED) == (found.fault is not None)
    dumps(found.reason).encode()


@given(reason=st.text(min_size=1).filter(str.strip), score=st.integers(0, 10), before=st.text(alphabet="ab {}\\\n$"))
def test_what_a_judge_writes_as_json_is_read_back(reason, score, before):
    text = before.rstrip("{ \n") + "\n" + json.dumps({"reason": reason, "score": score})
    found = read_judgement(text)
    assert (found.score, found.fault) == (score, None)
    assert found.reason == reason.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


CONFLICTS = [
    ("The answer is wrong.", 9, True),
    ("The answer is wrong.", 4, False),
    ("The answer is correct.", 4, True),
    ("The answer is correct.", 5, False),
    ("15, 20 so correct", 2, True),
    ("The derivation is invalid", 8, True),
    ("So it is valid!", 1, True),
    ("The answer is not correct.", 9, True),
    ("The answer is not correct.", 2, False),
    ("The answer isn't correct.", 9, True),
    ("The answer isn’t correct.", 9, True),
    ("It is not wrong.", 9, False),
    ("It is not wrong.", 1, True),
    ("There are no errors.", 9, False),
    ("It does not contain any errors.", 9, False),
    ("There is an error in step 2.", 9, True),
    ("No, the answer is correct.", 9, False),
    ("It looks wrong. But 3.5 + 1.5 is 5, so it is correct.", 9, False),
    ("It looks correct.\nYet the sign is wrong", 9, True),
    ("The candidate is wrong, the correct answer is 7.", 1, False),
    ("The correct answer is 7.", 1, False),
    ("The first step is correct, the last one wrong.", 9, False),
    ("The sum is 20.", 0, False),
    ("It is correctly computed.", 0, False),
    ("It is error-free.", 9, False),
    ("CORRECT", 0, True),
    ("", 0, False),
]


@pytest.mark.parametrize("reason, score, expected", CONFLICTS)
def test_a_conflict_is_an_explicit_opposite_verdict_in_the_last_sentence(reason, score, expected):
    assert conflicts(Judgement(score, reason)) is expected


def test_an_unresolved_judgement_never_conflicts():
    assert not conflicts(Judgement(UNRESOLVED, "correct", "score"))
