"""Sets of real numbers: unions of intervals and points, brought to one form by a sweep over their end points."""

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction

from ttrlab.grading.numeric import real_value
from ttrlab.grading.values import INFINITY, Value, expression

PLUS = expression({((INFINITY, Fraction(1)),): Fraction(1)})
MINUS = expression({((INFINITY, Fraction(1)),): Fraction(-1)})


def bound(end: Value) -> float | None:
    """Where an end point lies on the real line, or None when that is not known."""
    poly = dict(end.poly)
    if end.kind != "expr" or (end.bare() != end and end.unit is None):
        return None
    if end.poly in (PLUS.poly, MINUS.poly):
        return float("inf") if end.poly == PLUS.poly else float("-inf")
    return real_value(poly)


def interval(low: Value, high: Value, brackets: str) -> Value:
    """One interval as a region."""
    return Value("region", (Value("piece", (low, high), brackets),))


def pieces(value: Value) -> tuple[Value, ...] | None:
    """The intervals and points of a value that is a set of real numbers, else None."""
    if value.kind == "region":
        return value.items
    if value.kind == "pair":
        return (Value("piece", value.items, value.text),)
    if value.kind in ("set", "list"):
        return tuple(Value("piece", v.items, v.text) if v.kind == "pair" else Value("piece", (v, v), "[]") for v in value.items)
    if value.kind == "expr":
        return (Value("piece", (value, value), "[]"),)
    return () if value.kind == "empty" else None


def _covers(parts: tuple[Value, ...], low: float, high: float) -> bool:
    """Whether the parts hold the open gap between two neighbours, or the point where low = high."""
    for part in parts:
        start, stop = bound(part.items[0]), bound(part.items[1])
        assert start is not None
        assert stop is not None
        if low < high:
            if start <= low and high <= stop:
                return True
        elif (start < low or (start == low and part.text[0] == "[")) and (low < stop or (low == stop and part.text[1] == "]")):
            return True
    return False


def combine(a: Value, b: Value, keep: Callable[[bool, bool], bool]) -> Value | None:
    """The set of points where ``keep(in a, in b)``; None when an end point has no place on the line."""
    left, right = pieces(a), pieces(b)
    if left is None or right is None:
        return None
    ends: dict[float, Value] = {float("-inf"): MINUS, float("inf"): PLUS}
    for part in (*left, *right):
        for end in part.items:
            place = bound(end)
            if place is None:
                return None
            ends.setdefault(place, end)
    held = [cell for cell in cells(ends) if keep(_covers(left, *cell), _covers(right, *cell))]
    return joined(held, ends)


def cells(ends: Iterable[float]) -> list[tuple[float, float]]:
    """The points (x, x) and the open gaps (x, y) between neighbours, from left to right."""
    found: list[tuple[float, float]] = []
    for low, high in itertools.pairwise(sorted(ends)):
        found += [(low, low)] * (low != float("-inf")) + [(low, high)]
    return found


def joined(held: list[tuple[float, float]], ends: dict[float, Value]) -> Value:
    """Neighbouring cells as maximal intervals; points alone as a set."""
    runs: list[list[tuple[float, float]]] = []
    for cell in held:
        touches = bool(runs) and runs[-1][-1][1] == cell[0] and (runs[-1][-1][0] == runs[-1][-1][1] or cell[0] == cell[1])
        if touches:
            runs[-1].append(cell)
        else:
            runs.append([cell])
    if not runs:
        return Value("empty")
    if all(len(run) == 1 and run[0][0] == run[0][1] for run in runs):
        return Value("set", tuple(ends[run[0][0]] for run in runs))
    parts = []
    for run in runs:
        left = "[" if run[0][0] == run[0][1] else "("
        right = "]" if run[-1][0] == run[-1][1] else ")"
        parts.append(Value("piece", (ends[run[0][0]], ends[run[-1][1]]), left + right))
    return Value("region", tuple(parts))


def union(a: Value, b: Value) -> Value | None:
    """Points of either."""
    return combine(a, b, lambda x, y: x or y)


def intersection(a: Value, b: Value) -> Value | None:
    """Points of both."""
    return combine(a, b, lambda x, y: x and y)


def difference(a: Value, b: Value) -> Value | None:
    """Points of a that are not in b."""
    return combine(a, b, lambda x, y: x and not y)
