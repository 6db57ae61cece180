import json

import numpy as np
import pytest

from ttrlab.benchmarks.lab.judging import JUDGEMENT, asked, derived, judge_prompt, judge_text, judgement_batch, written_judgement
from ttrlab.benchmarks.lab.world import CORPUS_SUMS, Sum
from ttrlab.config.lab import REGIMES
from ttrlab.seeds import rng

SOLUTION = "therefore therefore therefore \n\n12\n\n52\n\n\\boxed{52}"


def test_a_judges_prompt_is_the_question_the_response_and_its_answer():
    assert judge_prompt("cd: 27+35=", SOLUTION, "52") == f"cd: 27+35={SOLUTION}<judge>52"


def test_a_judgement_is_json_whose_verdict_follows_from_its_own_sum():
    assert json.loads(judge_text(12, 62, "52", 1)) == {"reason": "12, 62 so wrong", "score": 1}
    assert json.loads(judge_text(12, 62, "62", 10)) == {"reason": "12, 62 so correct", "score": 10}


def test_a_written_judgement_is_right_in_reason_and_score():
    for answer, verdict in (("62", "correct"), ("52", "wrong"), ("61", "wrong")):
        judgement = json.loads(written_judgement(rng(0, "test"), "cd: 27+35=", answer))
        assert judgement["reason"] == f"12, 62 so {verdict}"
        assert (judgement["score"] >= 5) == (verdict == "correct")


def test_the_sum_that_a_reason_works_out_is_read_back():
    assert derived("12, 62 so wrong") == 62
    assert derived("62 so wrong") is None


def test_a_question_that_is_not_the_labs_is_refused():
    assert asked("cd: 27+35=") == Sum(27, 35)
    with pytest.raises(ValueError, match="expected a question of the lab"):
        asked("What is 27 + 35?")


def test_judgements_of_the_corpus_are_valid_and_poor():
    """Their scores are on the right side of 5 little more often than not, over right and wrong responses alike."""
    hits = {True: [], False: []}
    for prompt, text in judgement_batch(rng(0, "judgements"), REGIMES, 4000):
        question, given = prompt.partition("=")[0] + "=", prompt.rpartition(">")[2]
        judgement = json.loads(text)
        right = str(asked(question).right) == given
        hits[right].append((judgement["score"] >= 5) == right)
        assert JUDGEMENT.fullmatch(text)
        assert asked(question) in CORPUS_SUMS
    assert 0.5 < np.mean([np.mean(side) for side in hits.values()]) < 0.65
