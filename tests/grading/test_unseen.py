"""Grading on two collections written apart from the grader: scores, hostile strings, injected code, independence of order."""

import json
import sys
import time
from pathlib import Path
from typing import Any, Literal

import pytest

from ttrlab.grading import Verdict, equal, extract

DATA = Path(__file__).parent / "data"
SECONDS_PER_HOSTILE_STRING = 2.0
MARK = "@MARK@"  # stands for the path of a file that injected code would create


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of one JSON Lines file of the collection."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def spelled_out(spec: str | list[str | dict[str, Any]], mark: Path) -> str:
    """The string that a hostile row describes: pieces in a row, where {"repeat": [piece, n]} is n copies of one piece."""
    pieces = [spec] if isinstance(spec, str) else spec
    whole = "".join(piece if isinstance(piece, str) else piece["repeat"][0] * piece["repeat"][1] for piece in pieces)
    return whole.replace(MARK, str(mark))


COLLECTIONS = ("first", "second")
PAIRS = {name: rows(f"{name}.jsonl") for name in COLLECTIONS}
TEXTS = {name: rows(f"{name}_extract.jsonl") for name in COLLECTIONS}
HOSTILE = rows("hostile.jsonl")
collections = pytest.mark.parametrize("name", COLLECTIONS)


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    """The verdict on every pair, in the order in which the row gives it."""
    return {row["id"]: equal(row["a"], row["b"]) for pairs in PAIRS.values() for row in pairs}


def shown(missed: list[dict[str, Any]]) -> str:
    """The missed rows, one a line, for a failing test's message."""
    return "\n" + "\n".join(json.dumps(row, ensure_ascii=False) for row in missed)


@collections
def test_equivalence_is_right_on_97_percent_of_the_pairs(name: str, verdicts: dict[str, Verdict]) -> None:
    pairs = PAIRS[name]
    labels = {row["id"]: Verdict.YES if row["equal"] else Verdict.NO for row in pairs}
    missed = [row | {"got": verdicts[row["id"]].name} for row in pairs if verdicts[row["id"]] is not labels[row["id"]]]
    score = 1 - len(missed) / len(pairs)
    print(f"{name} equivalence {score:.4f} of {len(pairs)}; missed {[row['id'] for row in missed]}")
    assert score >= 0.97, shown(missed)


@collections
def test_at_most_one_false_positive_in_250_pairs(name: str, verdicts: dict[str, Verdict]) -> None:
    wrong = [row for row in PAIRS[name] if not row["equal"] and verdicts[row["id"]] is Verdict.YES]
    print(f"{name} false positives {[row['id'] for row in wrong]}")
    assert len(wrong) <= len(PAIRS[name]) // 250, shown(wrong)


@collections
def test_a_verdict_does_not_depend_on_the_order_of_its_answers(name: str, verdicts: dict[str, Verdict]) -> None:
    turned = [row | {"got": verdicts[row["id"]].name} for row in PAIRS[name] if equal(row["b"], row["a"]) is not verdicts[row["id"]]]
    assert not turned, shown(turned)


@collections
def test_every_answer_of_the_collection_equals_itself(name: str) -> None:
    odd = [row for row in PAIRS[name] for side in ("a", "b") if equal(row[side], row[side]) is not Verdict.YES]
    assert not odd, shown(odd)


def same_extraction(got: str | None, expected: str | None) -> bool:
    """None matches None alone; text matches the same text or an equal answer."""
    if got is None or expected is None:
        return got is expected
    return got.strip() == expected.strip() or equal(got, expected) is Verdict.YES


@collections
def test_extraction_is_right_on_95_percent_of_the_texts(name: str) -> None:
    texts = TEXTS[name]
    got = {row["id"]: extract(row["text"], kind=row["kind"], fallback=row["fallback"]) for row in texts}
    missed = [row | {"got": got[row["id"]]} for row in texts if not same_extraction(got[row["id"]], row["expected"])]
    score = 1 - len(missed) / len(texts)
    print(f"{name} extraction {score:.4f} of {len(texts)}; missed {[row['id'] for row in missed]}")
    assert score >= 0.95, shown(missed)


@collections
def test_the_collection_shares_no_pair_with_the_development_cases(name: str, shared: Path) -> None:
    def key(row: dict[str, Any]) -> frozenset[str]:
        return frozenset("".join(row[side].split()) for side in ("a", "b"))

    developed = {key(json.loads(line)) for line in (shared / "cases" / "equivalence.jsonl").read_text(encoding="utf-8").splitlines()}
    assert not developed & {key(row) for row in PAIRS[name]}


@pytest.fixture(scope="module")
def warm() -> None:
    """Workers start before the first clock does."""
    equal("(x+1)^2", "x^2+2x+1")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("row", HOSTILE, ids=lambda row: f"{row['id']}-{row['kind']}")
def test_a_hostile_string_gets_a_verdict_in_time_and_nothing_of_it_runs(row: dict[str, Any], tmp_path: Path, warm: None) -> None:
    mark = tmp_path / "mark"
    text = spelled_out(row["text"], mark)
    for other in (text, "1"):
        start = time.perf_counter()
        verdict = equal(text, other)
        seconds = time.perf_counter() - start
        assert isinstance(verdict, Verdict), row["id"]
        assert seconds <= SECONDS_PER_HOSTILE_STRING, f"{row['id']} ({row['why']}) took {seconds:.1f} s"
    assert verdict is not Verdict.YES, f"{row['id']} ({row['why']}) is not 1"
    assert not mark.exists(), f"{row['id']} ({row['why']}) created a file"
    assert equal("1", "2") is Verdict.NO
    assert sys.modules["ttrlab.grading"].equal is equal


@pytest.mark.timeout(60)
@pytest.mark.parametrize("row", HOSTILE, ids=lambda row: f"{row['id']}-{row['kind']}")
@pytest.mark.parametrize("kind", ["math", "choice", "integer"])
def test_extraction_from_a_hostile_string_ends_in_time(
    row: dict[str, Any], kind: Literal["math", "choice", "integer"], tmp_path: Path
) -> None:
    text = spelled_out(row["text"], tmp_path / "mark")
    for whole in (text, f"So \\boxed{{{text}}}", f"The answer is {text}"):
        start = time.perf_counter()
        answer = extract(whole, kind=kind, fallback="phrase")
        seconds = time.perf_counter() - start
        assert answer is None or isinstance(answer, str), row["id"]
        assert seconds <= SECONDS_PER_HOSTILE_STRING, f"{row['id']} ({row['why']}) took {seconds:.1f} s"
    assert not (tmp_path / "mark").exists(), f"{row['id']} ({row['why']}) created a file"
