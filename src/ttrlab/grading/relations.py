"""Equations, inequalities, memberships, chains and congruences."""

import math
from dataclasses import replace
from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading import regions
from ttrlab.grading.limits import Refused
from ttrlab.grading.normal import Poly
from ttrlab.grading.tree import Node
from ttrlab.grading.values import Value, expression

FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!=", "==": "=="}


def _name(node: Node) -> str:
    """The label that a side of an equation is, or nothing: a symbol, or a function of symbols."""
    if node.kind == "sym":
        return node.text
    if node.kind == "word":
        return node.text.casefold()
    if node.kind == "seq" and node.args and all(a.kind == "sym" for a in node.args):
        return "(" + ", ".join(a.text for a in node.args) + ")"
    if node.kind == "func" and node.text.startswith("apply ") and all(a.kind == "sym" for a in node.args):
        return node.text[6:]
    if node.kind == "mul" and node.args[1].kind == "sym" and node.args[1].text.isupper():
        head = _name(node.args[0])
        return head + node.args[1].text if head.isupper() else ""
    return ""


def _mentions(node: Node, name: str) -> bool:
    return (node.kind == "sym" and node.text == name) or any(_mentions(a, name) for a in node.args)


def relation(signs: list[str], sides: tuple[Node, ...]) -> Value:
    """The value of ``side sign side ...``."""
    from ttrlab.grading.canon import evaluate

    if "->" in signs:
        raise Refused("an arrow")
    first = _name(sides[0])
    if signs == ["in"]:
        return replace(evaluate(sides[1]), label=first)
    if signs == ["="] or signs == ["=="]:
        return _equation(*sides)
    if signs[0] == "=" and first and len(set(signs)) == 1:
        values = [evaluate(s) for s in sides[1:]]
        return replace(values[-1], label=first)
    if all(s in ("<", "<=", ">", ">=", "!=") for s in signs):
        return _inequality(signs, sides)
    return Value("chain", tuple(evaluate(s) for s in sides), " ".join(signs))


def _equation(left: Node, right: Node) -> Value:
    from ttrlab.grading.canon import evaluate

    for side, other in ((left, right), (right, left)):
        name = _name(side)
        if name and not _mentions(other, name) and not (other.kind == "sym" and side is left):
            value = evaluate(other)
            if not value.label:
                return replace(value, label=name)
    a, b = evaluate(left), evaluate(right)
    if a.kind != "expr" or b.kind != "expr":
        return Value("chain", (a, b), "=")
    return equation(nf.add(dict(a.poly), dict(b.poly), -1))


def equation(difference: Poly) -> Value:
    """``difference = 0``, scaled so that equations that differ by a factor agree."""
    return Value("eq", text="=", poly=nf.freeze(scaled(nf.cleared(difference), signed=False)))


def scaled(poly: Poly, signed: bool) -> Poly:
    """Divided by its content; without ``signed`` the first coefficient is made positive."""
    if not poly:
        return poly
    top = math.gcd(*(c.numerator for c in poly.values()))
    bottom = math.lcm(*(c.denominator for c in poly.values()))
    factor = nf.guard(Fraction(bottom, top))
    if not signed and nf.freeze(poly)[0][1] < 0:
        factor = -factor
    return {m: c * factor for m, c in poly.items()}


def _inequality(signs: list[str], sides: tuple[Node, ...]) -> Value:
    """A region for one symbol between constants; else a scaled inequality, or a chain that points upwards."""
    from ttrlab.grading.canon import evaluate

    if all(s[0] == ">" for s in signs):
        signs, sides = [FLIPPED[s] for s in reversed(signs)], tuple(reversed(sides))
    values = [evaluate(s) for s in sides]
    if any(v.kind != "expr" for v in values):
        return Value("chain", tuple(values), " ".join(signs))
    named = [_name(s) for s in sides]
    spots = [n for n, name in enumerate(named) if name]
    if len(spots) == 1 and len(sides) <= 3 and all(regions.bound(v.bare()) is not None for n, v in enumerate(values) if n != spots[0]):
        found = _solution(signs, values, spots[0])
        if found is not None:
            return replace(found, label=named[spots[0]])
    if len(sides) == 2:
        difference = nf.add(dict(values[0].poly), dict(values[1].poly), -1)
        linear = _linear(signs[0], difference)
        if linear is not None:
            return linear
        if signs[0] == "!=":
            return Value("ineq", text="!=", poly=nf.freeze(scaled(difference, signed=False)))
        return Value("ineq", text=signs[0], poly=nf.freeze(scaled(difference, signed=True)))
    return Value("chain", tuple(values), " ".join(signs))


def _linear(sign: str, difference: Poly) -> Value | None:
    """The ray that ``a x + b < 0`` describes, for one symbol x and rational a and b; else None."""
    terms = [(m, c) for m, c in difference.items() if m]
    if len(terms) != 1 or len(terms[0][0]) != 1 or terms[0][0][0][0][0] != "s" or terms[0][0][0][1] != 1:
        return None
    (monomial, slope), rest = terms[0], difference.get(nf.ONE, Fraction(0))
    end = expression(nf.constant(-rest / slope))
    found = _ray(sign if slope > 0 else FLIPPED[sign], end)
    return replace(found, label=str(monomial[0][0][1])) if found is not None else None


def _ray(sign: str, end: Value) -> Value | None:
    """The points x with ``x sign end``."""
    if sign == "!=":
        return regions.difference(regions.interval(regions.MINUS, regions.PLUS, "()"), end)
    if sign[0] == "<":
        return regions.interval(regions.MINUS, end, "(" + ("]" if sign == "<=" else ")"))
    return regions.interval(end, regions.PLUS, ("[" if sign == ">=" else "(") + ")")


def _solution(signs: list[str], values: list[Value], spot: int) -> Value | None:
    """The region of the symbol at ``spot``: one ray a neighbour."""
    found = None
    for n, sign in enumerate(signs):
        if spot not in (n, n + 1):
            return None
        ray = _ray(sign, values[n + 1].bare()) if spot == n else _ray(FLIPPED[sign], values[n].bare())
        if ray is None:
            return None
        found = ray if found is None else regions.intersection(found, ray)
    return found


def congruence(node: Node) -> Value:
    """``a (mod m)`` with the residue reduced and the label kept."""
    from ttrlab.grading.canon import to_poly

    residue, modulus = (nf.as_rational(to_poly(a)) for a in node.args[:2])
    if residue is None or modulus is None or modulus.denominator != 1 or residue.denominator != 1 or modulus <= 0:
        items = tuple(expression(to_poly(a)) for a in node.args[:2])
        return Value("mod", items)
    label = _name(node.args[2]) if len(node.args) == 3 else ""
    if len(node.args) == 3 and not label:
        items = tuple(expression(to_poly(a)) for a in node.args[2:])
        return Value("mod", items, f"{residue % modulus} {modulus}")
    return Value("mod", text=f"{residue % modulus} {modulus}", label=label)
