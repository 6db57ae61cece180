"""The typed tree that the parser builds."""

import re
from dataclasses import dataclass
from fractions import Fraction

_INTEGER = r"(?:0|[1-9]\d{0,14})"
_PLAIN = re.compile(
    rf"(-?)(?:({_INTEGER}(?:\.\d{{1,15}})?)|({_INTEGER})/([1-9]\d{{0,14}})|\\[dt]?frac\{{({_INTEGER})\}}\{{([1-9]\d{{0,14}})\}})", re.ASCII
)


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


def plain_number(answer: str) -> Node | None:
    """The tree of ``-12``, ``0.75``, ``3/4`` and ``\\frac{3}{4}``, as the parser would build it; None for all other answers."""
    match = _PLAIN.fullmatch(answer)
    if match is None:
        return None
    sign, alone, *fraction = match.groups()
    found = decimal(alone) if alone else Node("div", tuple(number(int(part)) for part in fraction if part))
    return Node("neg", (found,)) if sign else found
