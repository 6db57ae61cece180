"""Equality of two answers and the classes of many."""

import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ttrlab.grading.verdict import Verdict


def normalize(answer: str) -> str:
    """The printable canonical key of an answer; equal keys mean equal answers."""
    text = re.sub(r"\\(left|right|,|!|;)|[\s$]", "", answer[:2000]).replace("dfrac", "frac").replace("tfrac", "frac")
    text = re.sub(r"\\frac\{(-?\d+)\}\{(-?\d+)\}|\\frac(\d)(\d)", lambda m: f"{m[1] or m[3]}/{m[2] or m[4]}", text)
    if re.fullmatch(r"[+-]?\d{1,300}(/\d*[1-9]\d*|\.\d+)?", text, re.ASCII):
        return str(Fraction(text))
    return text


def explain(a: str, b: str) -> tuple[Verdict, str]:
    """The verdict on two answers and the reason for it, in words."""
    left, right = normalize(a), normalize(b)
    return (Verdict.YES, f"same key {left}") if left == right else (Verdict.NO, f"keys {left} and {right} differ")


def equal(a: str, b: str) -> Verdict:
    """Whether two answers mean the same; symmetric, never raises."""
    return explain(a, b)[0]


def classes(answers: Sequence[str | None]) -> NDArray[np.int64]:
    """(n,) class ids by first appearance, -1 for None; an equivalence relation whatever the order."""
    seen: dict[str, int] = {}
    return np.array([-1 if a is None else seen.setdefault(normalize(a), len(seen)) for a in answers], dtype=np.int64)
