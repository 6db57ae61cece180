"""Other readings of a number: a percent sign, a degree mark, a unit's letter, a decimal that ends."""

from dataclasses import replace
from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading.units import UNITS, read_unit
from ttrlab.grading.values import Value, expression


def letter_unit(value: Value) -> Value | None:
    """``5m``, read as a product, as a quantity in metres; None where no unit has that letter."""
    if value.kind != "expr" or len(value.poly) != 1:
        return None
    ((monomial, coefficient),) = value.poly
    if len(monomial) != 1 or monomial[0][0][0] != "s" or monomial[0][1] != 1 or str(monomial[0][0][1]).lower() not in UNITS:
        return None
    return replace(expression(nf.constant(coefficient)), unit=read_unit(str(monomial[0][0][1])))


def letters(value: Value) -> frozenset[str] | None:
    """The letters A to J that an answer chooses, written side by side or as a list; None for anything else."""
    items = value.items if value.kind == "list" else (value,)
    found: list[str] = []
    for item in items:
        if item.kind == "choice":
            found.append(item.text)
        elif item.kind == "expr" and len(item.poly) == 1 and item.poly[0][1] == 1:
            found += [str(g[1]) if g[0] == "s" and n == 1 else "?" for g, n in item.poly[0][0]]
        else:
            return None
    chosen = frozenset(found)
    return chosen if len(found) == len(chosen) > 1 and chosen <= frozenset("ABCDEFGHIJ") else None


def other_readings(value: Value) -> list[Value]:
    """Second readings of a number with a percent sign (a hundredth) or a degree mark (in radians)."""
    name = value.unit[0] if value.unit is not None else ()
    if name == (("percent", 1),):
        return [times(value.bare(), Fraction(1, 100))]
    if name == (("degree", 1),) and value.kind == "expr":
        return [expression(nf.multiply(dict(value.poly), nf.reduced((), ((nf.PI, Fraction(1)),), Fraction(1, 180))))]
    return []


def renamed(value: Value, old: str, new: str) -> Value:
    """The expression with one symbol renamed."""
    poly: nf.Poly = {}
    for monomial, coefficient in value.poly:
        names = tuple(sorted((((("s", new) if g == ("s", old) else g), n) for g, n in monomial), key=nf.order))
        poly = nf.add(poly, {names: coefficient})
    return expression(poly)


def times(value: Value, factor: Fraction) -> Value:
    """The value, or each of its parts, times a factor."""
    if value.kind == "expr":
        return expression(nf.multiply(dict(value.poly), nf.constant(factor)), value.digits)
    return replace(value, items=tuple(times(i, factor) for i in value.items))


def repeats(fraction: Fraction) -> bool:
    """Whether the decimal of a fraction never ends."""
    rest = fraction.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest != 1


def point_scale(written: Fraction) -> int:
    """10^k for a decimal with k digits after the point."""
    scale = 1
    while written * scale % 1:
        scale *= 10
    return scale
