"""Two expressions: exact normal forms decide; else values at fixed points separate them, and a symbolic proof joins them."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

from ttrlab.grading import normal as nf
from ttrlab.grading.limits import Refused
from ttrlab.grading.normal import Frozen
from ttrlab.grading.numeric import DIGITS, POINTS, WIDE, Unknown, has_symbol, value
from ttrlab.grading.powers import logarithm
from ttrlab.grading.symbolic import prove
from ttrlab.grading.values import Value
from ttrlab.grading.verdict import Verdict

CERTAIN = 250
"""Digits that two small constants share only when they are equal."""
STEPS = ("floor", "ceil", "max", "min", "arg", "Re", "Im", "conjugate", "gcd", "lcm")
"""Functions that may be constant between points."""
UNBOUNDED = ("factorial", "pow", "binom", "exp", "sinh", "cosh", "tanh", "sum", "prod")


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
    if _agree_to_the_end(a, b):
        return Verdict.YES, f"the same number to {CERTAIN} digits"
    if left is None and right is None and len(a) == len(b) == 1:
        verdict = _by_logarithms(dict(a), dict(b))
        if verdict is not None:
            return verdict
    if (left is None) != (right is None) and _has_series(a) != _has_series(b):
        return Verdict.UNDECIDED, "a sum or product that is not written out"
    if left is None and right is None and _has_series(a) and _has_series(b):
        return Verdict.NO, "different sums or products"
    if left is None or right is None:
        return (
            (Verdict.NO, "different forms without a value")
            if (left is None) != (right is None)
            else (Verdict.UNDECIDED, "no value can be computed")
        )
    return _far(a, b) or prove(a, b)


def _far(a: Frozen, b: Frozen) -> tuple[Verdict, str] | None:
    """Two short expressions without steps at the further points: NO where one parts them, YES where they meet to 28 digits at four
    or more (they met at the first points already, and short expressions that meet so often are the same), else None.
    """
    names, bits = _inventory((a, b))
    if "s" not in names or names & set(STEPS) or names & {"inf", "sum", "prod", "pow", "factorial"} or bits > 300:
        return None
    met = 0
    for point in WIDE:
        try:
            x, y = value(dict(a), point), value(dict(b), point)
        except Unknown:
            continue
        if point < 0 and (x.imag or y.imag):
            continue
        if abs(x - y) > max(abs(x), abs(y)) * 10.0 ** (12 - DIGITS):
            return Verdict.NO, "different values at a further point"
        met += 1
    return (Verdict.YES, "the same values at all points, near and far") if met >= 4 else None


def _agree_to_the_end(a: Frozen, b: Frozen) -> bool:
    """Whether two small constants agree to so many digits that another reason than equality is out of the question.

    Small: no powers of powers, no factorials, few bits in all, so that nothing in them is as small as the last digit.
    """
    names, bits = _inventory((a, b))
    if names & {"s", "E", "inf"} or any(n.startswith("apply") or n in UNBOUNDED for n in names) or bits > 300:
        return False
    try:
        x, y = (value(dict(p), 0, CERTAIN + 20) for p in (a, b))
    except Unknown:
        return False
    return bool(abs(x - y) <= max(abs(x), abs(y)) / 10**CERTAIN)


def _inventory(part: object) -> tuple[set[str], int]:
    """All names in a nested form, and the bits of all its integers."""
    if isinstance(part, tuple):
        inner = [_inventory(p) for p in part]
        return set().union(*(names for names, _ in inner)), sum(bits for _, bits in inner)
    if isinstance(part, str):
        return {part}, 0
    if isinstance(part, Fraction):
        return set(), part.numerator.bit_length() + part.denominator.bit_length() - 1
    return set(), int(part).bit_length() if isinstance(part, int) else 0


def _has_series(poly: Frozen) -> bool:
    """Whether a sum or product sign stands in a form."""
    return bool(_inventory(poly)[0] & {"sum", "prod"})


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
