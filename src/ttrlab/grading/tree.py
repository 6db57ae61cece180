"""The typed tree that the parser builds."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Node:
    """One node: ``kind`` names it, ``args`` are its children, ``text`` and ``number`` what a leaf or an operator needs.

    Kinds: num, sym, word, const, empty, reals, add, mul, div, pow, neg, pm, func, list, seq, set, matrix, rel, mod, ratio, union,
    inter, minus, base, quantity, builder, series (low, high, body; text: kind and index).
    """

    kind: str
    args: tuple["Node", ...] = ()
    text: str = ""
    number: Fraction | None = None
    digits: int | None = None
    """Significant digits, where the number was written as a decimal."""


def number(value: Fraction | int, digits: int | None = None) -> Node:
    """A number leaf."""
    return Node("num", number=Fraction(value), digits=digits)


def decimal(text: str) -> Node:
    """A number from digits with at most one point; digits counts the significant ones when there is a point."""
    text = text.rstrip(".") if text.endswith(".") else text
    if "." not in text:
        return number(int(text))
    return number(Fraction(text if text[0] != "." else "0" + text), len(text.replace(".", "").lstrip("0")) or 1)
