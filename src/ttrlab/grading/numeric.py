"""High-precision values of normal forms at fixed points: they differ where the expressions differ, and only hint at equality."""

from fractions import Fraction
from hashlib import sha256
from typing import Any

import mpmath

from ttrlab.grading.normal import Frozen, Generator, Poly, freeze

DIGITS = 40
POINTS = 3
WIDE = {3: "0.41", 4: "7.3", 5: "0.06", 6: "31.7", -2: "0.37", -3: "5.9"}
"""Further points, at which the symbols are scaled: small and large, positive and negative."""
HUGE = 10**7


class Unknown(ArithmeticError):
    """The value cannot be computed within the caps."""


def symbol_value(context: Any, name: str, point: int) -> Any:
    """A fixed pseudo-random number in (1, 2), scaled at the points of WIDE, for a symbol: positive at points >= 0, so that roots
    and logarithms stay real, and negative below."""
    digest = int.from_bytes(sha256(f"{point}:{name}".encode()).digest()[:16], "big")
    magnitude = (1 + context.mpf(digest) / context.mpf(2**128)) * context.mpf(WIDE.get(point, "1"))
    return magnitude if point >= 0 else -magnitude


def value(poly: Poly, point: int = 0, digits: int = DIGITS) -> Any:
    """The value at a point to ``digits`` digits. Unknown where a piece has none or is too large."""
    context = mpmath.MPContext()
    context.dps = digits
    try:
        result = _poly(context, freeze(poly), point)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError, NotImplementedError, MemoryError, mpmath.libmp.NoConvergence) as error:
        raise Unknown(str(error)) from error
    if not context.isfinite(result):
        raise Unknown("not finite")
    return result


def _poly(context: Any, frozen: Frozen, point: int) -> Any:
    total, largest = context.mpf(0), context.mpf(0)
    for monomial, coefficient in frozen:
        term = context.mpf(coefficient.numerator) / coefficient.denominator
        for name, exponent in monomial:
            times = context.mpf(exponent.numerator) / exponent.denominator
            if name[0] == "E":
                inner = _poly(context, ((name[2], Fraction(1)),), point)
                term = term * _power(context, _generator(context, name[1], point), times * inner)
            else:
                term = term * _power(context, _generator(context, name, point), times, exponent, point)
        total = total + term
        largest = max(largest, abs(term))
    return total if abs(total) > largest * context.mpf(10) ** (5 - context.dps) else context.mpf(0)


def _power(context: Any, base: Any, exponent: Any, exact: Fraction | None = None, point: int = 0) -> Any:
    """A power; at a point of negative symbols an even root of what is not positive is Unknown: normal forms take roots of positives."""
    if exact is not None and exact == 1:
        return base
    if point < 0 and exact is not None and exact.denominator % 2 == 0 and (base.imag or base.real < 0):
        raise Unknown("an even root of a negative number")
    size = abs(exponent) * abs(context.log(abs(base))) if base else 0
    if size > HUGE:
        raise Unknown("a power beyond the cap")
    if exact is not None and exact.denominator == 1 and abs(exact) < 10**6:
        return base ** int(exact)
    if exact is not None and exact.denominator % 2 and base.imag == 0 and base.real < 0:
        return (-1 if exact.numerator % 2 else 1) * (-base) ** exponent
    return base**exponent


def _generator(context: Any, name: Generator, point: int) -> Any:
    kind = name[0]
    rest: tuple[Any, ...] = name[1:]
    if kind == "p":
        return context.mpf(rest[0])
    if kind == "l":
        return context.log(rest[0])
    if kind == "i":
        return context.mpc(0, 1)
    if kind == "pi":
        return +context.pi
    if kind == "e":
        return +context.e
    if kind == "inf":
        raise Unknown("infinity")
    if kind == "s":
        return symbol_value(context, rest[0], point)
    if kind == "q":
        return _poly(context, rest[0], point)
    return _function(context, str(rest[0]), [_poly(context, a, point) for a in rest[1:]])


def _function(context: Any, name: str, arguments: list[Any]) -> Any:
    if name.startswith("apply "):
        total = context.mpf(0)
        for index, argument in enumerate(arguments):
            total += context.sin(argument * (index + 1) + symbol_value(context, name, index))
        return total + 3
    if any(abs(a) > HUGE for a in arguments) and name not in ("abs", "ln"):
        raise Unknown("an argument beyond the cap")
    if name == "pow":
        return _power(context, arguments[0], arguments[1])
    table = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot", "arcsec": "asec", "arccsc": "acsc", "abs": "fabs",
             "Re": "re", "Im": "im", "binom": "binomial", "conjugate": "conj"}  # fmt: skip
    if name == "factorial":
        if abs(arguments[0]) > HUGE:
            raise Unknown("a factorial beyond the cap")
        return context.exp(context.loggamma(arguments[0] + 1))
    if name in ("max", "min"):
        return (max if name == "max" else min)(arguments, key=lambda a: a.real)
    known = ("sin", "cos", "sinh", "cosh", "tanh", "ln", "floor", "ceil", "arg", *table)
    if name not in known:
        raise Unknown(f"no value for {name}")
    return getattr(context, table.get(name, name))(*arguments)


def real_value(poly: Poly) -> float | None:
    """The value of a real constant, or None for what has symbols, is complex or unknown."""
    if any(_has_symbol(g) for m in poly for g, _ in m):
        return None
    try:
        number = value(poly)
    except Unknown:
        return None
    if abs(number.imag) > 1e-25 * (1 + abs(number.real)):
        return None
    return float(number.real) if abs(number.real) < 1e300 else float("inf") * (1 if number.real > 0 else -1)


def _has_symbol(name: object) -> bool:
    if not isinstance(name, tuple):
        return False
    return name[:1] == ("s",) or (name[:1] == ("f",) and str(name[1]).startswith("apply ")) or any(_has_symbol(part) for part in name)


def has_symbol(poly: Poly) -> bool:
    """Whether a symbol or an unknown function occurs."""
    return any(_has_symbol(g) for m in poly for g, _ in m)
