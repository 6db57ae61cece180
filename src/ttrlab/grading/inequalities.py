"""Solution sets of inequalities in one unknown: linear with constant coefficients, quadratic and absolute values with rational ones."""

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading import regions
from ttrlab.grading.normal import Poly
from ttrlab.grading.numeric import has_symbol
from ttrlab.grading.values import Value, expression

FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!=", "==": "=="}
HOLDS = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1), "!=": (-1, 1)}
"""Signs of the difference for which the relation holds."""
Parabola = tuple[Fraction, Fraction, Fraction]
"""Coefficients of x^2, x and 1."""


@dataclass(frozen=True)
class Shape:
    """``smooth`` plus the sum of ``weight * |inner|``, in the unknown ``name``."""

    name: str
    smooth: Parabola
    bars: tuple[tuple[Fraction, Parabola], ...]

    def __call__(self, x: Fraction) -> Fraction:
        """The value at x."""
        return _at(self.smooth, x) + sum((w * abs(_at(inner, x)) for w, inner in self.bars), Fraction(0))


def ray(sign: str, end: Value) -> Value | None:
    """The points x with ``x sign end``."""
    if sign == "!=":
        return regions.difference(regions.interval(regions.MINUS, regions.PLUS, "()"), end)
    if sign[0] == "<":
        return regions.interval(regions.MINUS, end, "(" + ("]" if sign == "<=" else ")"))
    return regions.interval(end, regions.PLUS, ("[" if sign == ">=" else "(") + ")")


def solution(sign: str, difference: Poly) -> Value | None:
    """The labelled set of x with ``difference sign 0``; None where the difference has another shape."""
    return _linear(sign, difference) or _curved(sign, difference)


def _linear(sign: str, difference: Poly) -> Value | None:
    """The ray that ``a x + b`` describes, for rational a and a constant b."""
    moving = {m: c for m, c in difference.items() if has_symbol({m: c})}
    if len(moving) != 1:
        return None
    ((monomial, slope),) = moving.items()
    if len(monomial) != 1 or monomial[0][0][0] != "s" or monomial[0][1] != 1:
        return None
    end = expression({m: -c / slope for m, c in difference.items() if m not in moving})
    if regions.bound(end) is None:
        return None
    found = ray(sign if slope > 0 else FLIPPED[sign], end)
    return replace(found, label=str(monomial[0][0][1])) if found is not None else None


def _at(parabola: Parabola, x: Fraction) -> Fraction:
    return (parabola[0] * x + parabola[1]) * x + parabola[2]


def _parabola(poly: Poly) -> tuple[str, Parabola] | None:
    """The one symbol of a polynomial of degree two or less and its coefficients."""
    name, found = "", [Fraction(0)] * 3
    for monomial, coefficient in poly.items():
        if not monomial:
            found[2] = coefficient
        elif len(monomial) == 1 and monomial[0][0][0] == "s" and monomial[0][1] in (1, 2) and name in ("", monomial[0][0][1]):
            name = str(monomial[0][0][1])
            found[2 - int(monomial[0][1])] = coefficient
        else:
            return None
    return name, (found[0], found[1], found[2])


def _shape(difference: Poly) -> Shape | None:
    smooth: Poly = {}
    bars: list[tuple[Fraction, Parabola]] = []
    names: set[str] = set()
    for monomial, coefficient in difference.items():
        if len(monomial) == 1 and monomial[0][0][:2] == ("f", "abs") and monomial[0][1] == 1:
            inner = _parabola(dict(monomial[0][0][2]))
            if inner is None:
                return None
            names.add(inner[0])
            bars.append((coefficient, inner[1]))
        else:
            smooth[monomial] = coefficient
    rest = _parabola(smooth)
    if rest is None or len(bars) > 3:
        return None
    names |= {rest[0]} - {""}
    return Shape(names.pop(), rest[1], tuple(bars)) if len(names) == 1 else None


def _roots(parabola: Parabola) -> list[Poly]:
    """Exact real roots; none for a constant."""
    a, b, c = parabola
    if not a:
        return [nf.constant(-c / b)] if b else []
    inside = b * b - 4 * a * c
    if inside < 0:
        return []
    root = nf.rational_power(inside, nf.HALF) if inside else {}
    return [nf.multiply(nf.add(nf.constant(-b), root, sign), nf.constant(1 / (2 * a))) for sign in (1, -1)]


def _curved(sign: str, difference: Poly) -> Value | None:
    """The region of a quadratic or of absolute values: the sign on each gap between roots and kinks, and on these themselves."""
    shape = _shape(difference)
    if shape is None:
        return None
    edges = [root for _, inner in shape.bars for root in _roots(inner)]
    for signs in itertools.product((1, -1), repeat=len(shape.bars)):
        branch = [list(shape.smooth), *([s * w * c for c in inner] for s, (w, inner) in zip(signs, shape.bars, strict=True))]
        edges += _roots((sum(p[0] for p in branch), sum(p[1] for p in branch), sum(p[2] for p in branch)))  # type: ignore[arg-type]
    ends: dict[float, Value] = {float("-inf"): regions.MINUS, float("inf"): regions.PLUS}
    for edge in edges:
        place = regions.bound(expression(edge))
        if place is not None:
            ends.setdefault(place, expression(edge))
    held = [cell for cell in regions.cells(ends) if _sign(shape, *cell) in HOLDS[sign]]
    return replace(regions.joined(held, ends), label=shape.name)


def _sign(shape: Shape, low: float, high: float) -> int:
    """The sign at a point, or in the middle of an open gap."""
    if low == float("-inf"):
        x = Fraction(high) - 1 if high != float("inf") else Fraction(0)
    elif high == float("inf"):
        x = Fraction(low) + 1
    else:
        x = (Fraction(low) + Fraction(high)) / 2
    value = shape(x)
    scale = sum((abs(c) for p in (shape.smooth, *(inner for _, inner in shape.bars)) for c in p), Fraction(1)) * (1 + x * x)
    if low == high and abs(value) < scale * Fraction(1, 10**12):
        return 0
    return (value > 0) - (value < 0)
