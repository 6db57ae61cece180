"""Exact values of functions where they have one; otherwise an opaque piece of the normal form."""

import math
from collections.abc import Callable
from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading.counting import counting
from ttrlab.grading.limits import Refused
from ttrlab.grading.normal import Poly
from ttrlab.grading.numeric import has_symbol, real_value
from ttrlab.grading.powers import logarithm, power

MAX_ANGLES = 4
"""Terms of an angle up to which its sine and cosine are expanded."""
RADIANS = ("sin", "cos", "tan", "cot", "sec", "csc")


def _root(n: int, coefficient: Fraction | int = 1) -> Poly:
    return nf.multiply(nf.constant(coefficient), nf.rational_power(Fraction(n), nf.HALF))


def cosine_of_pi(turn: Fraction) -> Poly | None:
    """cos(turn * pi) for multiples of pi/12 and pi/10, else None."""
    turn = abs(turn) % 2
    turn = min(turn, 2 - turn)
    if turn > nf.HALF:
        value = cosine_of_pi(1 - turn)
        return None if value is None else nf.add({}, value, -1)
    quarter = Fraction(1, 4)
    table: dict[Fraction, Callable[[], Poly]] = {
        Fraction(0): lambda: nf.constant(1),
        Fraction(1, 2): dict,
        Fraction(1, 3): lambda: nf.constant(nf.HALF),
        Fraction(1, 4): lambda: _root(2, nf.HALF),
        Fraction(1, 6): lambda: _root(3, nf.HALF),
        Fraction(1, 12): lambda: nf.add(_root(6, quarter), _root(2, quarter)),
        Fraction(5, 12): lambda: nf.add(_root(6, quarter), _root(2, quarter), -1),
        Fraction(1, 5): lambda: nf.add(nf.constant(quarter), _root(5, quarter)),
        Fraction(2, 5): lambda: nf.add(_root(5, quarter), nf.constant(quarter), -1),
    }
    return table[turn]() if turn in table else None


def _turn(argument: Poly) -> Fraction | None:
    """r where the argument is r * pi, else None."""
    if not argument:
        return Fraction(0)
    return argument.get(((nf.PI, Fraction(1)),)) if len(argument) == 1 else None


def trigonometric(name: str, argument: Poly) -> Poly:
    """sin, cos and their quotients; tan, cot, sec and csc are written by sin and cos."""
    sine = _wave("sin", argument) if name != "cos" and name != "sec" else {}
    cosine = _wave("cos", argument) if name not in ("sin", "csc") else {}
    if name in ("sin", "cos"):
        return sine if name == "sin" else cosine
    if name in ("tan", "cot"):
        top, bottom = (sine, cosine) if name == "tan" else (cosine, sine)
        return nf.multiply(top, nf.inverse(bottom))
    return nf.inverse(cosine if name == "sec" else sine)


def _wave(name: str, argument: Poly) -> Poly:
    turn = _turn(argument)
    exact = None if turn is None else cosine_of_pi(turn if name == "cos" else turn - nf.HALF)
    if exact is not None:
        return exact
    if 1 < len(argument) <= MAX_ANGLES and has_symbol(argument):
        return _of_a_sum(name, argument)
    multiple = _multiple(argument)
    if multiple is not None:
        return _chebyshev(name, *multiple)
    sign = -1 if nf.freeze(argument)[0][1] < 0 else 1
    frozen = nf.freeze({m: c * sign for m, c in argument.items()})
    return nf.multiply(nf.constant(sign if name == "sin" else 1), nf.generator(("f", name, frozen)))


def _of_a_sum(name: str, argument: Poly) -> Poly:
    """sin and cos of a sum of angles by those of its first term and of the rest."""
    first, coefficient = nf.freeze(argument)[0]
    head, rest = {first: coefficient}, {m: c for m, c in argument.items() if m != first}
    cross = "cos" if name == "sin" else "sin"
    left = nf.multiply(_wave(name, head), _wave("cos", rest))
    right = nf.multiply(_wave(cross, head), _wave("sin", rest))
    return nf.add(left, right, 1 if name == "sin" else -1)


def _multiple(argument: Poly) -> tuple[int, Poly] | None:
    """(n, x) where the argument is n x with a symbol in x and 2 <= |n| <= 6, else None."""
    if len(argument) != 1:
        return None
    ((monomial, coefficient),) = argument.items()
    if not any(g[0] == "s" for g, _ in monomial) or coefficient.denominator != 1 or not 2 <= abs(coefficient) <= 6:
        return None
    return int(coefficient), {monomial: Fraction(1)}


def _chebyshev(name: str, n: int, angle: Poly) -> Poly:
    """cos(n x) and sin(n x) by cos x and sin x, from (cos x + i sin x)^n."""
    rotated = nf.integer_power(nf.add(_wave("cos", angle), nf.multiply(nf.generator(nf.IMAGINARY), _wave("sin", angle))), abs(n))
    imaginary = (nf.IMAGINARY, Fraction(1))
    real = {m: c for m, c in rotated.items() if imaginary not in m}
    if name == "cos":
        return real
    found = {tuple(f for f in m if f != imaginary): c for m, c in rotated.items() if imaginary in m}
    return found if n > 0 else nf.add({}, found, -1)


def inverse_trigonometric(name: str, argument: Poly) -> Poly:
    """arcsin, arccos, arctan and relatives at the exact values of the table."""
    direct = name.removeprefix("arc")
    if not any(g[0] in ("s", "f", "E", "q") for m in argument for g, _ in m):
        for twelfth in range(-6, 13):
            turn = Fraction(twelfth, 12)
            low, high = (Fraction(0), Fraction(1)) if direct in ("cos", "cot", "sec") else (-nf.HALF, nf.HALF)
            if (
                low <= turn <= high
                and not (direct in ("tan", "sec") and abs(turn) == nf.HALF)
                and not (direct in ("cot", "csc") and turn % 1 == 0)
            ) and trigonometric(direct, nf.multiply(nf.constant(turn), nf.generator(nf.PI))) == argument:
                return nf.multiply(nf.constant(turn), nf.generator(nf.PI))
    return nf.generator(("f", name, nf.freeze(argument)))


def absolute(argument: Poly) -> Poly:
    """|x|: the modulus of a complex constant, the sign resolved for a real one."""
    if any(g == nf.IMAGINARY for m in argument for g, _ in m) and not any(g[0] in ("s", "f", "E", "q") for m in argument for g, _ in m):
        conjugate = {m: -c if any(g == nf.IMAGINARY for g, _ in m) else c for m, c in argument.items()}
        return power(nf.multiply(argument, conjugate), nf.constant(nf.HALF))
    sign = real_value(argument)
    if sign is not None:
        return argument if sign >= 0 else nf.add({}, argument, -1)
    lead = nf.freeze(argument)[0][1]
    return nf.generator(("f", "abs", nf.freeze(argument if lead > 0 else nf.add({}, argument, -1))))


def _hyperbolic(name: str, argument: Poly) -> Poly:
    """sinh, cosh and tanh by exponentials."""
    up, down = (power(nf.generator(nf.E), nf.multiply(argument, nf.constant(sign))) for sign in (1, -1))
    sine, cosine = nf.add(up, down, -1), nf.add(up, down)
    if name == "tanh":
        return nf.multiply(sine, nf.inverse(cosine))
    return nf.multiply(nf.constant(nf.HALF), sine if name == "sinh" else cosine)


def rounding(name: str, argument: Poly) -> Poly:
    """Floor and ceiling of real constants."""
    value = real_value(argument)
    if value is None or abs(value) > 1e15:
        return nf.generator(("f", name, nf.freeze(argument)))
    exact = nf.as_rational(argument)
    chosen = math.floor if name == "floor" else math.ceil
    return nf.constant(chosen(exact if exact is not None else value))


def apply(name: str, arguments: list[Poly]) -> Poly:
    """The normal form of a named function of normal forms. Refused for a wrong number of arguments."""
    if name in ("factorial", "binom", "gcd", "lcm"):
        return counting(name, arguments)
    if name in ("max", "min"):
        values = [nf.as_rational(a) for a in arguments]
        if any(v is None for v in values):
            return nf.generator(("f", name, *sorted((nf.freeze(a) for a in arguments), key=nf.order)))
        return nf.constant((max if name == "max" else min)(v for v in values if v is not None))
    if name == "log base" and len(arguments) == 2:
        return nf.multiply(logarithm(arguments[0]), nf.inverse(logarithm(arguments[1])))
    if name.startswith("apply "):
        return nf.generator(("f", name, *(nf.freeze(a) for a in arguments)))
    if len(arguments) != 1:
        raise Refused(f"{name} of {len(arguments)} arguments")
    return _unary(name, arguments[0])


def _unary(name: str, argument: Poly) -> Poly:
    if name in RADIANS:
        return trigonometric(name, argument)
    if name.startswith("arc"):
        return inverse_trigonometric(name, argument)
    if name in ("sinh", "cosh", "tanh"):
        return _hyperbolic(name, argument)
    if name == "cis":
        return nf.add(_wave("cos", argument), nf.multiply(nf.generator(nf.IMAGINARY), _wave("sin", argument)))
    if name == "conjugate" and not nf.opaque(argument) and not has_symbol(argument):
        return {m: -c if any(g == nf.IMAGINARY for g, _ in m) else c for m, c in argument.items()}
    if name == "abs":
        return absolute(argument)
    if name in ("floor", "ceil"):
        return rounding(name, argument)
    if name == "ln":
        return logarithm(argument)
    if name == "log":
        return nf.multiply(logarithm(argument), nf.inverse(logarithm(nf.constant(10))))
    if name == "exp":
        return power(nf.generator(nf.E), argument)
    return nf.generator(("f", name, nf.freeze(argument)))
