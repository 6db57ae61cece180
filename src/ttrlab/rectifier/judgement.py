"""Reading a judge's output: the last JSON object with a reason and an integer score. Hostile text is data and costs linear time."""

import json
import re
from dataclasses import dataclass
from typing import Any

from ttrlab.rewards.truer import UNRESOLVED

__all__ = ["ACCEPT", "LARGEST", "UNRESOLVED", "Judgement", "conflicts", "last_object", "read_judgement"]

ACCEPT = 5
"""Scores of at least this accept an answer."""

LARGEST = 10
"""Scores are integers in 0..LARGEST; p = score / LARGEST."""

_THOUGHT_END = "</think>"
_START = re.compile(r"""\{\s*(?:["'}]|reason\b|score\b)""")
_DIGITS = 18
_MOST_FAILURES = 200
"""Objects that do not parse before reading gives up: the decoder counts lines up to each error, which is quadratic otherwise."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE_END = re.compile(r"[,;:()]")
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")
_RIGHT = frozenset({"correct", "valid"})
_WRONG = frozenset({"incorrect", "wrong", "invalid", "error", "errors"})
_NEGATORS = frozenset({"not", "no", "never", "without", "cannot", "neither", "nor"})
_REACH = 3
"""A negation acts on verdict words up to this many words later in its clause."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """``score`` in 0..10 and a non-empty ``reason``; or ``UNRESOLVED``, an empty reason, and the ``fault`` that made it so."""

    score: int
    reason: str
    fault: str | None = None


def read_judgement(text: str, truncated: bool = False) -> Judgement:
    """The judgement in a judge's output.

    Valid: the output was not truncated, its last JSON object parses, has no doubled key, ``score`` is an integer in 0..10 (no bool, no
    float, no string), and ``reason`` is a non-empty string. What stands before the end of a native reasoning block does not count.
    """
    if truncated:
        return Judgement(UNRESOLVED, "", "truncated")
    found = last_object(text.rpartition(_THOUGHT_END)[2])
    if isinstance(found, str):
        return Judgement(UNRESOLVED, "", found)
    score, reason = found.get("score"), found.get("reason")
    if type(score) is not int or not 0 <= score <= LARGEST:
        return Judgement(UNRESOLVED, "", "score")
    if not isinstance(reason, str) or not reason.strip():
        return Judgement(UNRESOLVED, "", "reason")
    return Judgement(score, reason.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def conflicts(judgement: Judgement) -> bool:
    """True when the reason's last sentence states the opposite of the score: "wrong" with a score that accepts, or the reverse.

    Verdict words are correct, valid against incorrect, wrong, invalid, error; a negation in the same clause turns one around. "The
    correct answer" names an answer and is no verdict. No verdict word, or words of both signs, is no *explicit* conflict. An unresolved
    judgement never conflicts.
    """
    if judgement.fault is not None:
        return False
    verdicts = {sign for clause in _CLAUSE_END.split(_last_sentence(judgement.reason)) for sign in _verdicts(clause)}
    return verdicts == {judgement.score < ACCEPT}


def _last_sentence(reason: str) -> str:
    return _SENTENCE_END.split(reason.strip())[-1].lower().replace("’", "'")


def _verdicts(clause: str) -> list[bool]:
    """True for each word that says right, False for each that says wrong, negations applied."""
    words = _WORD.findall(clause)
    signs = []
    for i, word in enumerate(words):
        if word in _WRONG or (word in _RIGHT and words[max(i - 1, 0)] != "the"):
            negations = sum(w in _NEGATORS or w.endswith("n't") for w in words[max(i - _REACH, 0) : i])
            signs.append((word in _RIGHT) != (negations % 2 == 1))
    return signs


def last_object(text: str) -> dict[str, Any] | str:
    """The last top-level JSON object of ``text``, or the fault: "no object", "malformed object".

    A brace opens an object when a quote, a closing brace or one of the two keys follows, so sets and LaTeX are not objects. After an
    object that does not parse, reading goes on where the parser stopped: nothing is read twice. Nesting deeper than the decoder allows,
    and more than 200 objects that do not parse, are malformed whatever follows.
    """
    found: dict[str, Any] | str = "no object"
    at = failures = 0
    while (start := _START.search(text, at)) is not None:
        try:
            found, at = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            found, at, failures = "malformed object", max(error.pos, start.start() + 1), failures + 1
            if failures > _MOST_FAILURES:
                break
        except RecursionError:
            return "malformed object"
    return found


def _small_int(digits: str) -> int | None:
    """An integer, or None where it is too long to be a score: converting thousands of digits is slow and refused by Python."""
    return int(digits) if len(digits) <= _DIGITS else None


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object, or an empty one when a key stands in it twice."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else {}


_DECODER = json.JSONDecoder(parse_int=_small_int, object_pairs_hook=_unambiguous)
