"""Equations, inequalities, memberships, chains and congruences."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading import regions
from ttrlab.grading.expressions import to_poly
from ttrlab.grading.inequalities import FLIPPED, ray, solution
from ttrlab.grading.limits import Refused
from ttrlab.grading.normal import Poly
from ttrlab.grading.numeric import has_symbol, real_value
from ttrlab.grading.tree import Node
from ttrlab.grading.values import Value, expression


def _name(node: Node) -> str:
    """The label that a side of an equation is, or nothing: a symbol, a function, a segment, a ratio of these."""
    if node.kind == "sym":
        return node.text
    if node.kind == "word":
        return node.text.casefold()
    if node.kind == "seq" and node.args and all(a.kind == "sym" for a in node.args):
        return "(" + ", ".join(a.text for a in node.args) + ")"
    if node.kind == "func" and node.text.startswith("apply lim"):
        return node.text[6:]
    if node.kind == "func" and node.text.startswith("apply "):
        if all(a.kind == "sym" for a in node.args):
            return node.text[6:]
        return f"{node.text[6:]}({node.args[0].number})" if len(node.args) == 1 and node.args[0].kind == "num" else ""
    if node.kind in ("div", "ratio"):
        return _quotient_name(node)
    if (node.kind == "func" and node.text == "abs") or (node.kind == "seq" and len(node.args) == 1):
        inside = _name(node.args[0])
        return f"|{inside}|" if len(inside) > 1 and inside.isalpha() and inside.isupper() else ""
    if node.kind == "mul" and node.args[1].kind == "sym" and node.args[1].text.isupper():
        head = _name(node.args[0])
        return head + node.args[1].text if head.isupper() else ""
    return ""


def _quotient_name(node: Node) -> str:
    """``AB/CD``, ``V_1:V_2``; ``dy/dx`` is ``y'``."""
    names = [_name(a) for a in node.args]
    if node.kind == "ratio":
        return ":".join(names) if all(names) else ""
    if all(a.kind == "mul" and a.args[0].text in ("d", "partial") and a.args[1].kind == "sym" for a in node.args):
        return node.args[0].args[1].text + "'"
    return "/".join(names) if all(n and n[0].isalpha() and (n.isupper() or len(n) > 1) for n in names) else ""


def _mentions(node: Node, name: str) -> bool:
    return (node.kind == "sym" and node.text == name) or any(_mentions(a, name) for a in node.args)


def relation(signs: list[str], sides: tuple[Node, ...]) -> Value:
    """The value of ``side sign side ...``."""
    from ttrlab.grading.canon import evaluate

    if "->" in signs:
        raise Refused("an arrow")
    first = _name(sides[0])
    if "~" in signs:
        return _approximate(signs, sides, first)
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


def _approximate(signs: list[str], sides: tuple[Node, ...], first: str) -> Value:
    """What stands before "approximately" is exact and counts; after a mere label the approximation does."""
    from ttrlab.grading.canon import evaluate

    cut = signs.index("~")
    if cut:
        return relation(signs[:cut], sides[: cut + 1])
    return replace(evaluate(sides[1]), label=first) if first else evaluate(sides[0])


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
    if not has_symbol(dict(a.poly)) and not has_symbol(dict(b.poly)):
        return _computation(a, b)
    return equation(nf.add(dict(a.poly), dict(b.poly), -1))


def _computation(a: Value, b: Value) -> Value:
    """``3/4 = 0.75`` between constants: the value where both sides have the same form, the exact side where the other rounds it."""
    if a.poly == b.poly:
        return min(a, b, key=lambda v: v.digits or 0)
    for exact, rounded in ((a, b), (b, a)):
        if exact.digits is None and (rounded.digits or 0) > 2 and _rounds(dict(exact.poly), dict(rounded.poly), rounded.digits or 0):
            return exact
    return Value("chain", (a, b), "=")


def _rounds(exact: Poly, rounded: Poly, digits: int) -> bool:
    """Whether two constants agree to the digits that are given."""
    place, written = real_value(exact), real_value(rounded)
    return place is not None and written is not None and abs(place - written) <= abs(written) * 10.0 ** (1 - digits)


def equation(difference: Poly) -> Value:
    """``difference = 0``, free of denominators and scaled so that equations that differ by a factor agree."""
    poly = nf.cleared(difference)
    powers: dict[nf.Generator, Fraction] = {}
    for monomial in poly:
        for name, exponent in monomial:
            if name[0] == "s":
                powers[name] = min(powers.get(name, exponent), exponent)
    for name, exponent in powers.items():
        if exponent < 0:
            poly = nf.multiply(poly, nf.generator(name, -exponent))
    return Value("eq", text="=", poly=nf.freeze(scaled(poly, signed=False)))


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
    named = [_name(s) for s in sides]
    if signs == ["!="] and named[0] and values[1].kind == "list":
        rest = ray("!=", values[1])
        return replace(rest, label=named[0]) if rest is not None else Value("chain", tuple(values), "!=")
    if any(v.kind != "expr" for v in values):
        return Value("chain", tuple(values), " ".join(signs))
    spots = [n for n, name in enumerate(named) if name]
    if len(spots) == 1 and len(sides) <= 3 and all(regions.bound(v.bare()) is not None for n, v in enumerate(values) if n != spots[0]):
        found = _solution(signs, values, spots[0])
        if found is not None:
            return replace(found, label=named[spots[0]])
    differences = [nf.add(dict(x.poly), dict(y.poly), -1) for x, y in itertools.pairwise(values)]
    solved = _common([solution(sign, difference) for sign, difference in zip(signs, differences, strict=True)])
    if solved is not None:
        return solved
    if len(sides) == 2:
        return Value("ineq", text=signs[0], poly=nf.freeze(scaled(differences[0], signed=signs[0] != "!=")))
    return Value("chain", tuple(values), " ".join(signs))


def _common(found: list[Value | None]) -> Value | None:
    """The intersection of solution sets of one unknown; None where one is missing or the unknowns differ."""
    sets = [f for f in found if f is not None]
    if len(sets) != len(found) or len({s.label for s in sets}) != 1:
        return None
    joint: Value | None = sets[0].bare()
    for other in sets[1:]:
        joint = regions.intersection(joint, other.bare()) if joint is not None else None
    return replace(joint, label=sets[0].label) if joint is not None else None


def _solution(signs: list[str], values: list[Value], spot: int) -> Value | None:
    """The region of the symbol at ``spot``: one ray a neighbour."""
    found = None
    for n, sign in enumerate(signs):
        if spot not in (n, n + 1):
            return None
        side = ray(sign, values[n + 1].bare()) if spot == n else ray(FLIPPED[sign], values[n].bare())
        if side is None:
            return None
        found = side if found is None else regions.intersection(found, side)
    return found


def congruence(node: Node) -> Value:
    """``a (mod m)`` with the residue reduced and the label kept."""
    residue, modulus = (nf.as_rational(to_poly(a)) for a in node.args[:2])
    if residue is None or modulus is None or modulus.denominator != 1 or residue.denominator != 1 or modulus <= 0:
        items = tuple(expression(to_poly(a)) for a in node.args[:2])
        return Value("mod", items)
    label = _name(node.args[2]) if len(node.args) == 3 else ""
    if len(node.args) == 3 and not label:
        items = tuple(expression(to_poly(a)) for a in node.args[2:])
        return Value("mod", items, f"{residue % modulus} {modulus}")
    return Value("mod", text=f"{residue % modulus} {modulus}", label=label)
