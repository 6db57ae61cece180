"""From a tree to its canonical value."""

import re
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

from ttrlab.grading import normal as nf
from ttrlab.grading import regions
from ttrlab.grading.expressions import ARITHMETIC, has_matrix, matrix, to_poly
from ttrlab.grading.forms import special, unannounced, word
from ttrlab.grading.limits import MAX_CHARACTERS, Refused, budget
from ttrlab.grading.numeric import has_symbol
from ttrlab.grading.parse import parse
from ttrlab.grading.relations import congruence, relation
from ttrlab.grading.text import spell
from ttrlab.grading.tree import Node, plain_number
from ttrlab.grading.units import Unit, read_unit
from ttrlab.grading.values import Value, expression, key

TRANSPOSED = ("T", "t", "top", "intercal")
_LABEL = re.compile(r"([^=<>,;]{0,20}[A-Za-z][^=<>,;]{0,20}?) ?= ?([^=<>]{1,200})")
"""A name that the grammar does not know, as ``\\Pr(A)`` or ``E[X]``, before an equals sign."""
_REPEATED = re.compile(r"([^()]{1,60}) \(([^()]{1,60})\)")
SUMMED = tuple(((name, 1),) for name in ("dollar", "time", "length", "mass"))
"""Dimensions whose amounts are said in two units."""
_COMPOUND = re.compile(r"([^\d/^]+) (\d{1,9}(?:\.\d{1,9})?) ([^\d/^]+)")


def read(answer: str) -> Value:
    """The canonical value of an answer. What the grammar refuses is a word: it equals only the same text."""
    if len(answer) > MAX_CHARACTERS:
        digest = sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
        return Value("word", text=f"{len(answer)} characters {digest[:32]}")
    number = plain_number(answer)
    if number is not None:
        return evaluate(number)
    spelled = unannounced(spell(answer))
    found = special(spelled)
    if found is not None:
        return found
    try:
        with budget():
            return _said_twice(spelled) or evaluate(parse(spelled))
    except (Refused, RecursionError):
        named = _LABEL.fullmatch(spelled)
        if named:
            value = read(named[2])
            return value if value.kind == "word" else replace(value, label=value.label or word(named[1]).text)
        return word("".join(spelled.split()) if "\\" in spelled else spelled)


def _said_twice(spelled: str) -> Value | None:
    """``3/4 (0.75)`` and ``12 (twelve)``: a number with the same number in parentheses after it; None for all else."""
    match = _REPEATED.fullmatch(spelled)
    if match is None:
        return None
    try:
        first, second = (special(part) or evaluate(parse(part)) for part in match.groups())
    except Refused:
        return None
    return first if first.kind == "expr" and first.poly == second.poly and not has_symbol(dict(first.poly)) else None


def signed(node: Node, upper: bool) -> Node:
    """The tree with every plus-minus replaced by its upper or lower sign."""
    args = tuple(signed(a, upper) for a in node.args)
    if node.kind == "pm":
        return args[0] if upper == (node.text == "pm") else Node("neg", args)
    return Node(node.kind, args, node.text, node.number, node.digits) if args != node.args else node


def has_both_signs(node: Node) -> bool:
    """Whether a plus-minus occurs."""
    return node.kind == "pm" or any(has_both_signs(a) for a in node.args)


def evaluate(node: Node) -> Value:
    """The value of any tree."""
    if node.kind not in ("list", "set", "seq", "rel") and has_both_signs(node):
        return Value("list", (evaluate(signed(node, True)), evaluate(signed(node, False))))
    match node.kind:
        case "list":
            return _list(node)
        case "seq":
            return _sequence(node)
        case "set":
            return _set(node)
        case "rel":
            return relation(node.text.split(" "), node.args)
        case "mod":
            return congruence(node)
        case "ratio":
            return Value("ratio", tuple(evaluate(a) for a in node.args))
        case "empty":
            return Value("empty")
        case "reals":
            return regions.interval(regions.MINUS, regions.PLUS, "()")
        case "matrix":
            return Value("matrix", tuple(evaluate(a) for a in node.args), node.text)
        case "base":
            return special(node.text) or word(node.text)
        case "word":
            return special(node.text) or word(node.text)
        case "union" | "inter" | "minus":
            return _set_operation(node)
        case "quantity":
            return _quantity(node)
        case "builder":
            return evaluate(node.args[1]).bare()
    if node.kind == "add" and len(node.args) == 2 and node.args[1].kind == "neg" and node.args[1].args[0].kind == "set":
        return _set_operation(Node("minus", (node.args[0], node.args[1].args[0])))
    if node.kind == "pow" and node.args[0].kind == "seq" and node.args[1].text in TRANSPOSED:
        return Value("matrix", tuple(evaluate(a) for a in node.args[0].args), f"{len(node.args[0].args)} 1")
    if node.kind in ARITHMETIC and has_matrix(node):
        rows, columns, entries = matrix(node)
        return Value("matrix", tuple(expression(e) for e in entries), f"{rows} {columns}")
    return expression(to_poly(node), _digits(node))


def _digits(node: Node) -> int | None:
    """Significant digits of a lone decimal, also of one times a power of ten."""
    if node.kind == "mul" and node.args[1].kind == "pow" and node.args[1].args[0].number == 10:
        return _digits(node.args[0])
    return _digits(node.args[0]) if node.kind == "neg" else node.digits


def _quantity(node: Node) -> Value:
    inner = evaluate(node.args[0])
    compound = _COMPOUND.fullmatch(node.text)
    if compound and inner.kind == "expr":
        return _compound(inner, read_unit(compound[1]), Fraction(compound[2]), read_unit(compound[3]))
    unit = read_unit(node.text)
    if inner.kind == "word" or inner.unit is not None:
        raise Refused("a unit of a word")
    if not unit[0]:
        return inner
    return replace(inner, unit=unit)


def _compound(first: Value, unit: Unit, second: Fraction, smaller: Unit) -> Value:
    """``3 hours 30 minutes`` in base units. Refused where the dimensions differ."""
    if unit[0] != smaller[0]:
        raise Refused("two units of different dimensions")
    total = nf.add(nf.multiply(dict(first.poly), nf.constant(unit[1])), nf.constant(second * smaller[1]))
    return replace(expression(total), unit=(unit[0], Fraction(1)))


def _flat(nodes: tuple[Node, ...]) -> tuple[Value, ...]:
    """Values of list items; an item with a plus-minus gives two."""
    found: list[Value] = []
    for node in nodes:
        value = evaluate(node)
        found += value.items if value.kind == "list" else [value]
    return tuple(found)


def _list(node: Node) -> Value:
    if node.args[0].kind == "rel" and node.args[0].text == "!=" and all(a.kind not in ("rel", "list") for a in node.args[1:]):
        left, right = node.args[0].args
        return relation(["!="], (left, Node("list", (right, *node.args[1:]))))
    values = [evaluate(a) for a in node.args]
    whole = _family(node, values) or _amount(values) if len(values) == 2 else None
    if whole is not None:
        return whole
    if node.text == ";":
        values = [_group(v) for v in values]
    if node.text in ("land", "lor") and all(v.kind == "expr" and not v.label for v in values):
        return Value("logic", tuple(values), node.text)
    if node.text == "or" and all(v.kind == "expr" for v in values) and len({key(v) for v in values}) == 1:
        return min(values, key=lambda v: v.digits or 0)
    if all(v.kind == "region" for v in values):
        joined = values[0]
        for other in values[1:]:
            both = regions.intersection(joined, other) if node.text not in ("or", "lor") else None
            joined = both if both is not None and both.kind != "empty" else regions.union(joined, other) or joined
        return Value(joined.kind, joined.items, joined.text, label=values[0].label)
    labels = [v.label for v in values]
    flat: list[Value] = []
    for value in values:
        flat += (
            value.items
            if value.kind == "list"
            else [value.bare() if len(set(filter(None, labels))) == 1 and labels[0] and value.unit is None else value]
        )
    label = labels[0] if labels[0] and len(set(filter(None, labels))) == 1 else ""
    if len(flat) > 1 and flat[-1].unit is not None and all(v.unit is None for v in flat[:-1]) and all(v.kind == "expr" for v in flat):
        flat[-1] = flat[-1].bare()
    return Value("list", tuple(flat), label=label)


def _family(node: Node, values: list[Value]) -> Value | None:
    """``k \\pi, k \\in \\mathbb{Z}``: an expression for every integer k; None for other pairs."""
    body, condition = values
    if condition.kind != "word" or condition.text != "set of z" or body.kind != "expr" or not condition.label:
        return None
    if ("s", condition.label) not in {g for m, _ in body.poly for g, _ in m}:
        return None
    return Value("family", (body.bare(),), condition.label, label=body.label)


def _amount(values: list[Value]) -> Value | None:
    """``5 dollars and 25 cents``: a sum of a large and a small unit, when the small part is less than one of the large; else None."""
    large, small = values
    if large.unit is None or small.unit is None or large.unit[0] != small.unit[0] or large.unit[0] not in SUMMED:
        return None
    first, second = nf.as_rational(dict(large.poly)), nf.as_rational(dict(small.poly))
    if large.kind != "expr" or small.kind != "expr" or first is None or second is None or first.denominator != 1:
        return None
    scale, part = large.unit[1], second * small.unit[1]
    return replace(expression(nf.constant(first * scale + part)), unit=(large.unit[0], Fraction(1))) if 0 < part < scale else None


def _group(value: Value) -> Value:
    """Values with a label each, between semicolons, as the tuple that they name."""
    labels = [i.label for i in value.items]
    if value.kind != "list" or not all(labels) or len(set(labels)) != len(labels):
        return value
    items = tuple(i.bare() for i in value.items)
    return Value("pair", items, "()") if len(items) == 2 else Value("tuple", items)


def _sequence(node: Node) -> Value:
    items = tuple(evaluate(a) for a in node.args)
    if len(items) == 1 and node.text == "[]" and items[0].kind in ("expr", "matrix"):
        return items[0]
    if node.text == "[]" and items and all(i.kind in ("tuple", "pair") for i in items) and len({len(i.items) for i in items}) == 1:
        return Value("matrix", tuple(e for i in items for e in i.items), f"{len(items)} {len(items[0].items)}")
    if len(items) == 2 and all(i.kind == "expr" for i in items):
        return Value("pair", items, node.text)
    if node.text not in ("()", "[]"):
        raise Refused("half-open brackets around a tuple")
    return Value("tuple", items)


def _set(node: Node) -> Value:
    unique = dict.fromkeys(_flat(node.args))
    if len(unique) == 1 and next(iter(unique)).kind == "region":
        return next(iter(unique)).bare()
    return Value("set", tuple(unique)) if unique else Value("empty")


def _set_operation(node: Node) -> Value:
    left, right = evaluate(node.args[0]), evaluate(node.args[1])
    operation = {"union": regions.union, "inter": regions.intersection, "minus": regions.difference}[node.kind]
    found = operation(left.bare(), right.bare())
    if found is None:
        if node.kind != "union":
            return Value("operation", (left, right), node.kind)
        return Value("set", tuple(i for v in (left, right) for i in (v.items if v.kind == "set" else (v,))), "")
    return Value(found.kind, found.items, found.text, found.poly, label=left.label)
