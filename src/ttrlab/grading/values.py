"""The canonical value of an answer: a tagged structure of exact parts, and its printable key."""

from dataclasses import dataclass, replace
from fractions import Fraction

from ttrlab.grading.normal import Frozen, Poly, freeze
from ttrlab.grading.units import Unit

INFINITY = ("inf",)


@dataclass(frozen=True, slots=True)
class Value:
    """One answer.

    ``kind``: expr, list (order free), tuple, pair, set, region, matrix, eq, ineq, chain, mod, ratio, time, base, word, logic, empty.
    ``label``: the name before an equals sign; ``unit``: what the number counts; both are dropped against a bare answer.
    """

    kind: str
    items: tuple["Value", ...] = ()
    text: str = ""
    poly: Frozen = ()
    digits: int | None = None
    label: str = ""
    unit: Unit | None = None

    def bare(self) -> "Value":
        """Without label and unit."""
        return replace(self, label="", unit=None)

    @property
    def ambiguous(self) -> bool:
        """Whether the answer has more than one reading: a label, a unit, a modulus, or a long decimal that may round another number."""
        return bool(self.label) or self.unit is not None or self.kind == "mod" or (self.digits or 0) >= LONG_DECIMAL


LONG_DECIMAL = 8
"""Significant digits from which a decimal may stand for the number that it rounds."""


def expression(poly: Poly, digits: int | None = None) -> Value:
    """An expression."""
    return Value("expr", poly=freeze(poly), digits=digits)


def key(value: Value) -> str:
    """Printable key; equal keys mean equal answers. A label stands before it, a unit after it."""
    head = f"{value.label} = " if value.label else ""
    tail = ""
    if value.unit is not None:
        powers, factor = value.unit
        tail = " [" + " ".join(f"{n}^{p}" if p != 1 else n for n, p in powers) + (f" * {factor}" if factor != 1 else "") + "]"
    return head + _body(value) + tail


def shown(text: str) -> str:
    """A key for a sentence: cut where it is long."""
    return text if len(text) <= 120 else text[:117] + "..."


def _body(value: Value) -> str:
    if value.kind == "expr":
        return print_poly(value.poly)
    if value.kind in ("eq", "ineq"):
        return f"{print_poly(value.poly)} {value.text} 0"
    inner = [key(item) for item in value.items]
    if value.kind in ("list", "set", "logic"):
        inner.sort()
    return f"{value.kind}{' ' + value.text if value.text else ''}({', '.join(inner)})" if inner else f"{value.kind} {value.text}".strip()


def number_text(value: Fraction) -> str:
    """Digits of a rational number, in hexadecimal where decimal digits would be refused by Python."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) < 10_000:
        return str(value)
    return f"{value.numerator:#x}/{value.denominator:#x}"


def print_poly(poly: Frozen) -> str:
    """A normal form as text: terms in a fixed order."""
    if not poly:
        return "0"
    terms = []
    for monomial, coefficient in poly:
        factors = [_print_generator(g) + (f"^({n})" if n != 1 else "") for g, n in monomial]
        if coefficient != 1 or not factors:
            factors.insert(0, number_text(coefficient))
        terms.append("*".join(factors))
    return " + ".join(terms)


def _print_generator(name: object) -> str:
    if not isinstance(name, tuple):
        return str(name)
    if name[0] in ("s", "p"):
        return str(name[1])
    if name[0] == "l":
        return f"ln({name[1]})"
    if name[0] == "q":
        return f"({print_poly(name[1])})"
    if name[0] == "f":
        return f"{name[1]}({', '.join(print_poly(a) for a in name[2:])})"
    if name[0] == "E":
        return f"{_print_generator(name[1])}^({print_poly(((name[2], Fraction(1)),))})"
    return str(name[0])
