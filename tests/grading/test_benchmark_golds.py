"""Real gold answers: each equals itself, and every spelling of it falls into one class apart from another answer."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.grading.spellings import sixteen
from ttrlab.grading import Verdict, classes, equal

FILES = ("math500", "amc83", "amc23", "aime24", "aime25")


def golds(shared: Path, name: str) -> list[str]:
    return [str(json.loads(line)["answer"]) for line in (shared / "benchmarks" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", FILES)
def test_every_gold_answer_equals_itself(shared: Path, name: str) -> None:
    odd = [g for g in golds(shared, name) if equal(g, g) is not Verdict.YES]
    assert not odd


def test_sixteen_spellings_of_each_math500_gold_are_one_class_and_another_gold_is_not_in_it(shared: Path) -> None:
    answers = golds(shared, "math500")
    split = []
    for gold, other in zip(answers, [*answers[1:], answers[0]], strict=True):
        ids = classes([*sixteen(gold), other])
        wrong_other = (ids[-1] == 0) != (equal(gold, other) is Verdict.YES)
        if np.any(ids[:-1] != 0) or wrong_other:
            split.append((gold, ids.tolist()))
    assert not split
