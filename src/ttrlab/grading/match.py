"""Whether two canonical values mean the same, reading labels, units, percents and long decimals as the table of conventions says."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading import regions
from ttrlab.grading.leaves import same_expression
from ttrlab.grading.limits import Refused
from ttrlab.grading.numeric import Unknown, has_symbol, value
from ttrlab.grading.readings import letter_unit, letters, other_readings, point_scale, renamed, repeats, times
from ttrlab.grading.relations import equation
from ttrlab.grading.units import read_unit
from ttrlab.grading.values import LONG_DECIMAL, Value, expression, key, shown
from ttrlab.grading.verdict import Verdict

Answer = tuple[Verdict, str]
Rule = Callable[[Value, Value], Answer]
UNORDERED = ("list", "set", "logic")
POUNDS = {read_unit("sterling"), read_unit("pound")}
"""The sign means money, the word may mean it."""
RELATIONS = ("eq", "ineq", "chain")


def same(a: Value, b: Value) -> Answer:
    """The verdict on two values, with the reason; symmetric."""
    if a == b or key(a) == key(b):
        return Verdict.YES, f"same key: {shown(key(a))}"
    return _labelled(a, b) if key(a) < key(b) else _labelled(b, a)


def _labelled(a: Value, b: Value) -> Answer:
    if {a.kind, b.kind} == {"mod", "expr"} and (a if a.kind == "expr" else b).label:
        return Verdict.NO, "a residue class is not one number"
    if a.label and b.label:
        if a.label.casefold() == b.label.casefold() or {a.label, b.label} in ({"y", "f"}, {"y", "g"}, {"y", "h"}):
            return _united(replace(a, label=""), replace(b, label=""))
        if any(("s", y.label) in {g for m, _ in x.poly for g, _ in m} for x, y in ((a, b), (b, a))):
            return _as_equation(a, _solved(b)) if b.kind == "expr" else _as_equation(b, _solved(a))
        return Verdict.NO, f"{a.label} and {b.label} are different unknowns"
    if a.label or b.label:
        with_label, other = (a, b) if a.label else (b, a)
        if other.kind in RELATIONS:
            return _as_equation(with_label, other)
        return _united(with_label.bare() if with_label.unit is None else replace(with_label, label=""), other)
    return _united(a, b)


def _solved(labelled: Value) -> Value:
    """``y = 2x + 3`` as an equation."""
    return equation(nf.add(nf.generator(("s", labelled.label)), dict(labelled.poly), -1))


def _as_equation(labelled: Value, other: Value) -> Answer:
    """``y = 2x + 3`` against an equation in another form."""
    if labelled.kind == "expr" and other.kind == "eq":
        try:
            return _same_kind(_solved(labelled), other)
        except Refused:
            return Verdict.NO, "different relations"
    return Verdict.NO, f"a {other.kind} is no value of {labelled.label}"


def _united(a: Value, b: Value) -> Answer:
    if a.unit is not None and b.unit is not None:
        if {a.unit, b.unit} == POUNDS:
            return _shaped(a.bare(), b.bare())
        if a.unit[0] != b.unit[0]:
            return Verdict.NO, "different units"
        return _shaped(times(a.bare(), a.unit[1]), times(b.bare(), b.unit[1])) if a.unit[1] != b.unit[1] else _shaped(a.bare(), b.bare())
    if a.unit is None and b.unit is None:
        return _shaped(a, b)
    with_unit, other = (a, b) if a.unit is not None else (b, a)
    spelled = letter_unit(other)
    if spelled is not None and with_unit.unit is not None and spelled.unit is not None and spelled.unit[0] == with_unit.unit[0]:
        return _united(with_unit, spelled)
    first = _shaped(with_unit.bare(), other)
    if first[0] is Verdict.YES:
        return first[0], "the unit stands on one side only"
    for reading in other_readings(with_unit):
        verdict = _shaped(reading, other)
        if verdict[0] is Verdict.YES:
            return verdict[0], f"read as {shown(key(reading))}"
    return first


def _shaped(a: Value, b: Value) -> Answer:
    """Values without label and unit: kinds that stand for each other are brought together."""
    if a == b or key(a) == key(b):
        return Verdict.YES, f"same key: {shown(key(a))}"
    kinds = {a.kind, b.kind}
    if kinds in ({"set", "pair"}, {"set", "tuple"}, {"set", "matrix"}):
        one, other = (a, b) if a.kind == "set" else (b, a)
        if len(one.items) == 1 and one.items[0].kind == other.kind:
            return same(one.items[0], other)
    if kinds == {"list", "set"}:
        return _unordered(a.items, b.items)
    if "list" in kinds and kinds & {"pair", "tuple"}:
        named, bare = (a, b) if a.kind == "list" else (b, a)
        labels = [i.label for i in named.items]
        if all(labels) and len(set(labels)) == len(labels) and bare.text in ("", "()"):
            return _ordered([i.bare() for i in named.items], bare.items)
    if "region" in kinds and kinds & {"pair", "set", "list"} and len(kinds) == 2:
        joined = [regions.union(v, v) for v in (a, b)]
        if joined[0] is None or joined[1] is None or joined[0].kind != joined[1].kind:
            return Verdict.NO, "different sets of numbers"
        return _same_kind(joined[0], joined[1])
    if "matrix" in kinds and kinds & {"tuple", "pair"}:
        table, row = (a, b) if a.kind == "matrix" else (b, a)
        if "1" in table.text.split(" ") and row.text in ("", "()", "[]"):
            return _ordered(table.items, row.items)
    if "family" in kinds:
        return _families(a, b)
    if kinds == {"ratio", "time"}:
        clock, ratio = (a, b) if a.kind == "time" else (b, a)
        hour, minute = clock.text.split(":")[:2]
        written = [nf.as_rational(dict(i.poly)) for i in ratio.items]
        yes = written in ([int(hour), int(minute)], [int(hour) % 12 or 12, int(minute)])
        return (Verdict.YES, "the half of the day stands on one side only") if yes else (Verdict.NO, "another time")
    if kinds == {"mod", "expr"}:
        congruence, number = (a, b) if a.kind == "mod" else (b, a)
        residue = nf.as_rational(dict(number.poly))
        yes = residue is not None and congruence.text.split(" ")[0] == str(residue)
        return (Verdict.YES, "the reduced residue") if yes else (Verdict.NO, "another residue")
    if kinds == {"ratio", "expr"}:
        return _ratio_and_number(a, b)
    if kinds == {"choice", "expr"}:
        letter, other = (a, b) if a.kind == "choice" else (b, a)
        yes = other.poly in [nf.freeze(nf.generator(("s", name))) for name in (letter.text, letter.text.lower())]
        return (Verdict.YES, "the same choice") if yes else (Verdict.NO, "a choice is no number")
    if len(kinds) == 1:
        return _same_kind(a, b)
    if kinds == {"list", "expr"} and letters(a) is not None and letters(a) == letters(b):
        return Verdict.YES, "the same letters"
    if len(kinds) == 2 and (kinds <= {"list", "set", "expr"} or (kinds & {"list", "set"} and kinds & {"pair", "tuple", "matrix"})):
        many, one = (a, b) if a.kind in UNORDERED else (b, a)
        if len(many.items) == 1:
            return same(many.items[0], one)
    return Verdict.NO, f"a {a.kind} is no {b.kind}"


def _families(a: Value, b: Value) -> Answer:
    """An expression for every integer k: its k may have another name, or be understood."""
    bodies = [renamed(v.items[0], v.text, "k") if v.kind == "family" and a.kind == b.kind else v for v in (a, b)]
    left, right = (v.items[0] if v.kind == "family" else v for v in bodies)
    return same(left, right)


def _ratio_and_number(a: Value, b: Value) -> Answer:
    ratio, other = (a, b) if a.kind == "ratio" else (b, a)
    if len(ratio.items) != 2 or any(i.kind != "expr" for i in ratio.items) or not ratio.items[1].poly:
        return Verdict.NO, "a ratio of several parts is no number"
    quotient = nf.multiply(dict(ratio.items[0].poly), nf.inverse(dict(ratio.items[1].poly)))
    return same_expression(expression(quotient), other)


def _same_kind(a: Value, b: Value) -> Answer:
    if a.kind == "expr":
        return _decimals(a, b)
    if a.kind in ("eq", "ineq"):
        if a.text != b.text:
            return Verdict.NO, "different relations"
        return proportional(a, b)
    if a.kind == "ratio":
        return _ratios(a, b)
    if a.text != b.text and a.kind != "list":
        return Verdict.NO, f"{a.kind} {a.text} and {b.text} differ" if a.kind in ("word", "base") else f"different {a.kind}s"
    if a.kind == "date" or (not a.items and not b.items):
        return (Verdict.YES, "same") if a.text == b.text else (Verdict.NO, f"different {a.kind}s")
    if a.kind == "set" and sum(i.kind == "set" for i in a.items) != sum(i.kind == "set" for i in b.items):
        return Verdict.NO, "a set is no element of its own"
    if a.kind in UNORDERED:
        return _unordered(a.items, b.items)
    return _ordered(a.items, b.items)


def _ratios(a: Value, b: Value) -> Answer:
    if len(a.items) != len(b.items) or any(i.kind != "expr" for i in (*a.items, *b.items)):
        return Verdict.NO, "ratios of different length"
    if any(not i.poly for i in (*a.items, *b.items)):
        return _ordered(a.items, b.items)
    for left, right in zip(a.items[1:], b.items[1:], strict=True):
        cross = [nf.multiply(dict(x.poly), dict(y.poly)) for x, y in ((a.items[0], right), (b.items[0], left))]
        verdict = same_expression(expression(cross[0]), expression(cross[1]))
        if verdict[0] is not Verdict.YES:
            return verdict
    return Verdict.YES, "the same ratio"


def proportional(a: Value, b: Value) -> Answer:
    """Equations and inequalities already scaled: equal, or opaque and equal as expressions."""
    if a.poly == b.poly:
        return Verdict.YES, "the same relation"
    verdict = same_expression(expression(dict(a.poly)), expression(dict(b.poly)))
    return verdict if verdict[0] is Verdict.YES else (Verdict.NO, "different relations")


def _decimals(a: Value, b: Value) -> Answer:
    """A decimal of enough digits may stand for the number that it rounds or cuts; shorter ones are exact."""
    verdict = same_expression(a, b)
    if verdict[0] is Verdict.YES or (a.digits is None) == (b.digits is None):
        return verdict
    decimal, other = (a, b) if a.digits is not None else (b, a)
    if (decimal.digits or 0) < LONG_DECIMAL:
        return Verdict.NO, "a short decimal is exact"
    written, fraction = nf.as_rational(dict(decimal.poly)), nf.as_rational(dict(other.poly))
    if fraction is not None and not repeats(fraction):
        return Verdict.NO, "a number with a finite decimal is written exactly"
    if written is None or has_symbol(dict(other.poly)):
        return verdict
    try:
        exact = value(dict(other.poly))
    except Unknown:
        return verdict
    last_place = Fraction(1, point_scale(written))
    close = abs(exact - written.numerator / value({nf.ONE: Fraction(written.denominator)})) < float(last_place)
    return (Verdict.YES, f"the decimal agrees to its {decimal.digits} digits") if close else verdict


def _ordered(a: Sequence[Value], b: Sequence[Value]) -> Answer:
    if len(a) != len(b):
        return Verdict.NO, f"{len(a)} and {len(b)} parts"
    undecided = False
    for place, (left, right) in enumerate(zip(a, b, strict=True), start=1):
        verdict, reason = same(left, right)
        if verdict is Verdict.NO:
            return Verdict.NO, f"part {place}: {reason}"
        undecided |= verdict is Verdict.UNDECIDED
    return (Verdict.UNDECIDED, "a part is undecided") if undecided else (Verdict.YES, "all parts agree")


def _unordered(a: Sequence[Value], b: Sequence[Value]) -> Answer:
    """Each item has its own partner on the other side."""
    if len(a) != len(b):
        return Verdict.NO, f"{len(a)} and {len(b)} parts"
    rest = sorted(b, key=key)
    undecided = False
    for item in sorted(a, key=key):
        verdicts = [same(item, other)[0] for other in rest]
        if Verdict.YES in verdicts:
            rest.pop(verdicts.index(Verdict.YES))
        elif Verdict.UNDECIDED in verdicts:
            rest.pop(verdicts.index(Verdict.UNDECIDED))
            undecided = True
        else:
            return Verdict.NO, f"{shown(key(item))} has no partner"
    return (Verdict.UNDECIDED, "a part is undecided") if undecided else (Verdict.YES, "all parts agree in some order")
