"""Two expressions: exact normal forms decide; else values at fixed points separate them, and a symbolic proof joins them."""

from functools import lru_cache
from typing import Any

from ttrlab.grading import normal as nf
from ttrlab.grading.limits import Refused
from ttrlab.grading.normal import Frozen
from ttrlab.grading.numeric import DIGITS, POINTS, Unknown, has_symbol, value
from ttrlab.grading.powers import logarithm
from ttrlab.grading.symbolic import prove
from ttrlab.grading.values import Value
from ttrlab.grading.verdict import Verdict


def same_expression(a: Value, b: Value) -> tuple[Verdict, str]:
    """The verdict on two expressions."""
    if a.poly == b.poly:
        return Verdict.YES, "the same normal form"
    first, second = sorted((a.poly, b.poly), key=nf.order)
    if not nf.opaque(dict(first)) and not nf.opaque(dict(second)):
        return Verdict.NO, "different normal forms"
    return _opaque(first, second)


@lru_cache(maxsize=65_536)
def fingerprint(poly: Frozen) -> tuple[Any, ...] | None:
    """Values at the fixed points, the last with negative symbols (None where not real); None where a value is unknown."""
    try:
        values = [value(dict(poly), point) for point in range(POINTS)] if has_symbol(dict(poly)) else [value(dict(poly))]
    except Unknown:
        return None
    try:
        negative = value(dict(poly), -1)
    except Unknown:
        return (*values, *[values[-1]] * (POINTS - len(values)), None)
    return (*values, *[values[-1]] * (POINTS - len(values)), negative if not negative.imag else None)


@lru_cache(maxsize=65_536)
def _opaque(a: Frozen, b: Frozen) -> tuple[Verdict, str]:
    left, right = fingerprint(a), fingerprint(b)
    if left is not None and right is not None:
        for x, y in zip(left, right, strict=True):
            if x is None or y is None:
                continue
            if abs(x - y) > max(abs(x), abs(y)) * 10.0 ** (12 - DIGITS):
                return Verdict.NO, "different values at a point"
    difference = nf.add(dict(a), dict(b), -1)
    if not nf.opaque(difference):
        return Verdict.NO, "the difference is not zero"
    if _vanishes(difference):
        return Verdict.YES, "the difference is zero"
    if left is None and right is None and len(a) == len(b) == 1:
        verdict = _by_logarithms(dict(a), dict(b))
        if verdict is not None:
            return verdict
    if left is None or right is None:
        return (
            (Verdict.NO, "different forms without a value")
            if (left is None) != (right is None)
            else (Verdict.UNDECIDED, "no value can be computed")
        )
    return prove(a, b)


def _by_logarithms(a: nf.Poly, b: nf.Poly) -> tuple[Verdict, str] | None:
    """Two towers: their logarithms decide where those are exact."""
    difference = nf.add(logarithm(a), logarithm(b), -1)
    if nf.opaque(difference):
        return None
    return (Verdict.NO, "different logarithms") if difference else (Verdict.YES, "the same logarithm")


def _vanishes(difference: nf.Poly) -> bool:
    """Whether the numerator of a difference is zero, as far as the caps allow to see it."""
    try:
        return not nf.cleared(difference)
    except Refused:
        return False
