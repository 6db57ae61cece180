"""Factorials, binomials, gcd and lcm: numbers where their arguments are integers, else forms that share their opaque pieces."""

import math
from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading.limits import MAX_FACTORIAL, Refused
from ttrlab.grading.normal import Poly
from ttrlab.grading.numeric import has_symbol

MAX_SHIFT = 20
"""Steps by which a symbolic factorial is moved, and factors multiplied out in a symbolic binomial."""


def integers(arguments: list[Poly], name: str) -> list[int] | None:
    """The integers behind the arguments, or None when one is something else."""
    values = [nf.as_rational(a) for a in arguments]
    if any(v is None or v.denominator != 1 for v in values):
        return None
    return [int(v) for v in values if v is not None]


def counting(name: str, arguments: list[Poly]) -> Poly:
    """Factorials, binomials, gcd and lcm of integers within the cap."""
    values = integers(arguments, name)
    if values is not None and all(abs(v) <= MAX_FACTORIAL for v in values):
        if name == "factorial" and values[0] >= 0:
            return nf.constant(nf.guard(Fraction(math.factorial(values[0]))))
        if name == "binom" and min(values) >= 0:
            return nf.constant(math.comb(*values))
    if values is not None and name in ("gcd", "lcm"):
        return nf.constant(math.gcd(*values) if name == "gcd" else math.lcm(*values))
    if name == "factorial" and values is not None and values[0] < 0:
        raise Refused("the factorial of a negative number")
    if name == "factorial" and has_symbol(arguments[0]):
        return _shifted_factorial(arguments[0])
    if name == "binom" and len(arguments) == 2 and any(has_symbol(a) for a in arguments):
        return _binomial(*arguments)
    frozen = [nf.freeze(a) for a in arguments]
    return nf.generator(("f", name, *(sorted(frozen, key=nf.order) if name in ("gcd", "lcm") else frozen)))


def _shifted_factorial(argument: Poly) -> Poly:
    """``(x + k)!`` as ``x! (x + 1) ... (x + k)``, so that factorials a few steps apart share one opaque piece."""
    shift = argument.get(nf.ONE, Fraction(0))
    steps = math.floor(shift) if abs(shift) <= MAX_SHIFT else 0
    base = nf.add(argument, nf.constant(steps), -1)
    result = nf.generator(("f", "factorial", nf.freeze(base)))
    for k in range(1, steps + 1):
        result = nf.multiply(result, nf.add(base, nf.constant(k)))
    for k in range(steps + 1, 1):
        result = nf.multiply(result, nf.inverse(nf.add(base, nf.constant(k))))
    return result


def _binomial(n: Poly, k: Poly) -> Poly:
    """``n (n - 1) ... / k!`` where k or n - k is a small integer, else by factorials."""
    for lower in (k, nf.add(n, k, -1)):
        count = nf.as_rational(lower)
        if count is not None and count.denominator == 1 and 0 <= count <= MAX_SHIFT:
            result = nf.constant(Fraction(1, math.factorial(int(count))))
            for step in range(int(count)):
                result = nf.multiply(result, nf.add(n, nf.constant(step), -1))
            return result
    top, *bottom = (counting("factorial", [a]) for a in (n, k, nf.add(n, k, -1)))
    return nf.multiply(top, nf.inverse(nf.multiply(*bottom)))
