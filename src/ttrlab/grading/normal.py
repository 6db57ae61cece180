"""Normal form of expressions: polynomials with Fraction coefficients over generators.

A generator is a prime (for roots and unexpanded powers), the imaginary unit, pi, e, a symbol, or an opaque piece: a function of
polynomials, or a sum that stands under a power. Polynomials without opaque pieces are equal exactly when their normal forms are.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ttrlab.grading.limits import MAX_BITS, MAX_EXPAND, MAX_TERMS, Refused, spend

Generator = tuple[Any, ...]
Monomial = tuple[tuple[Generator, Fraction], ...]
Poly = dict[Monomial, Fraction]
Frozen = tuple[tuple[Monomial, Fraction], ...]

ONE: Monomial = ()
HALF = Fraction(1, 2)
IMAGINARY: Generator = ("i",)
PI: Generator = ("pi",)
E: Generator = ("e",)
TRIAL_BOUND = 20_000


def order(part: object) -> str:
    """A text to sort by: ``repr``, in hexadecimal where Python refuses that many decimal digits."""
    try:
        return repr(part)
    except ValueError:
        if isinstance(part, tuple):
            return "(" + ",".join(order(p) for p in part) + ")"
        return f"{part.numerator:#x}/{part.denominator:#x}" if isinstance(part, Fraction) else str(part)


def constant(value: Fraction | int) -> Poly:
    """A rational constant."""
    return {ONE: Fraction(value)} if value else {}


def generator(name: Generator, exponent: Fraction | int = 1) -> Poly:
    """A power of one generator."""
    return {((name, Fraction(exponent)),): Fraction(1)}


def freeze(poly: Poly) -> Frozen:
    """Hashable form, in a fixed order."""
    return tuple(sorted(poly.items(), key=order))


def as_rational(poly: Poly) -> Fraction | None:
    """The rational number that a polynomial is, or None."""
    if not poly:
        return Fraction(0)
    return poly.get(ONE) if len(poly) == 1 else None


def guard(value: Fraction) -> Fraction:
    """The value, refused where its digits pass the cap."""
    if value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS:
        raise Refused("a number with too many digits")
    return value


def add(a: Poly, b: Poly, scale: Fraction | int = 1) -> Poly:
    """``a + scale * b``."""
    spend(len(b))
    result = dict(a)
    for monomial, coefficient in b.items():
        total = result.get(monomial, Fraction(0)) + scale * coefficient
        if total:
            result[monomial] = guard(total)
        else:
            result.pop(monomial, None)
    if len(result) > MAX_TERMS:
        raise Refused("a sum with too many terms")
    return result


def multiply(a: Poly, b: Poly) -> Poly:
    """Product, with roots, powers of i and opened sums reduced."""
    if len(a) * len(b) > MAX_TERMS * 4:
        raise Refused("a product with too many terms")
    result: Poly = {}
    for left, c in a.items():
        for right, d in b.items():
            for monomial, coefficient in reduced(left, right, guard(c * d)).items():
                total = result.pop(monomial, Fraction(0)) + coefficient
                if total:
                    result[monomial] = guard(total)
    if len(result) > MAX_TERMS:
        raise Refused("a product with too many terms")
    return result


def reduced(left: Monomial, right: Monomial, coefficient: Fraction) -> Poly:
    """``coefficient * left * right`` in normal form."""
    spend(1 + (coefficient.numerator.bit_length() + coefficient.denominator.bit_length()) // 1000)
    powers = dict(left)
    for name, exponent in right:
        powers[name] = powers.get(name, Fraction(0)) + exponent
    opened: list[Poly] = []
    for name in list(powers):
        exponent = powers.pop(name)
        if name == IMAGINARY:
            turns = exponent % 4
            coefficient *= -1 if turns >= 2 else 1
            exponent = turns % 2
        elif name[0] == "p":
            coefficient, exponent = _prime_power(int(str(name[1])), exponent, coefficient)
        elif name[:2] == ("f", "sin") and exponent >= 2 and exponent.denominator == 1 and exponent <= MAX_EXPAND:
            cosine = generator(("f", "cos", name[2]), 2)
            opened.append(integer_power(add(constant(1), cosine, -1), int(exponent) // 2))
            exponent = exponent % 2
        elif name[0] == "q" and exponent >= 1 and exponent <= MAX_EXPAND:
            whole = math.floor(exponent)
            exponent -= whole
            opened.append(integer_power(dict(name[1]), whole))
        if exponent:
            powers[name] = exponent
    result: Poly = {tuple(sorted(powers.items(), key=order)): guard(coefficient)}
    for poly in opened:
        result = multiply(result, poly)
    return result


def _prime_power(prime: int, exponent: Fraction, coefficient: Fraction) -> tuple[Fraction, Fraction]:
    """Move the whole part of a prime's exponent into the coefficient where it fits; else gather the prime in the exponent."""
    whole = math.floor(exponent)
    if abs(whole) * prime.bit_length() <= MAX_BITS // 4:
        return coefficient * Fraction(prime) ** whole, exponent - whole
    top, bottom = coefficient.numerator, coefficient.denominator
    while top and top % prime == 0:
        top, exponent = top // prime, exponent + 1
    while bottom % prime == 0:
        bottom, exponent = bottom // prime, exponent - 1
    return Fraction(top, bottom), exponent


def integer_power(poly: Poly, exponent: int) -> Poly:
    """``poly ** exponent`` for exponent >= 0 by repeated multiplication."""
    result = constant(1)
    for _ in range(exponent):
        result = multiply(result, poly)
    return result


@lru_cache(maxsize=4096)
def factorize(n: int) -> tuple[tuple[int, int], ...]:
    """Prime factors by trial division; a rest without small factors stands as one factor."""
    found = []
    candidate = 2
    while candidate * candidate <= n and candidate < TRIAL_BOUND:
        count = 0
        while n % candidate == 0:
            n, count = n // candidate, count + 1
        if count:
            found.append((candidate, count))
        candidate += 1 if candidate == 2 else 2
    if n > 1:
        root = math.isqrt(n)
        found.append((root, 2) if root * root == n else (n, 1))
    return tuple(found)


def rational_power(value: Fraction, exponent: Fraction) -> Poly:
    """``value ** exponent`` for value > 0 as a product of primes with exponents."""
    if exponent.numerator.bit_length() > 4000:
        raise Refused("an exponent with too many digits")
    powers = {p: n * exponent for p, n in factorize(value.numerator)}
    powers |= {p: -n * exponent for p, n in factorize(value.denominator)}
    result = constant(1)
    for prime, n in powers.items():
        result = multiply(result, reduced((), ((("p", prime), n),), Fraction(1)))
    return result


def content(poly: Poly) -> tuple[Poly, Poly]:
    """A monomial with positive coefficient, and the primitive rest: coprime integer coefficients, no common generator power."""
    if len(poly) == 1:
        return poly, constant(1)
    top = math.gcd(*(c.numerator for c in poly.values()))
    bottom = math.lcm(*(c.denominator for c in poly.values()))
    guard(Fraction(bottom))
    shared = dict(next(iter(poly)))
    for monomial in poly:
        powers = dict(monomial)
        shared = {g: min(n, powers[g]) for g, n in shared.items() if g in powers and g[0] not in ("i", "q")}
    common: Monomial = tuple(sorted(((g, n) for g, n in shared.items() if g[0] != "p"), key=order))
    head = {common: Fraction(top, bottom)}
    inverse = {tuple((g, -n) for g, n in common): Fraction(bottom, top)}
    return head, multiply(poly, inverse)


def _conjugate_generator(poly: Poly) -> Generator | None:
    """A square root or i in a constant whose generators are only these, else None."""
    chosen: Generator | None = None
    for monomial in poly:
        for name, exponent in monomial:
            if name != IMAGINARY and not (name[0] == "p" and exponent == HALF):
                return None
            chosen = chosen or name
    return chosen


def inverse(poly: Poly) -> Poly:
    """``1 / poly``. Refused at zero. Square roots in a sum are rationalised by conjugates."""
    if not poly:
        raise Refused("a division by zero")
    if len(poly) == 1:
        ((monomial, coefficient),) = poly.items()
        return reduced((), tuple((g, -n) for g, n in monomial), 1 / coefficient)
    name = _conjugate_generator(poly)
    if name is not None:
        conjugate = {m: -c if any(g == name for g, _ in m) else c for m, c in poly.items()}
        return multiply(conjugate, inverse(multiply(poly, conjugate)))
    head, rest = content(poly)
    lead = freeze(rest)[0][1]
    if lead < 0:
        head, rest = {m: -c for m, c in head.items()}, {m: -c for m, c in rest.items()}
    return multiply(inverse(head), generator(("q", freeze(rest)), -1))


def opaque(poly: Poly) -> bool:
    """Whether a piece of the polynomial is opaque: then unequal normal forms may still be equal."""
    return any(g[0] in ("q", "f", "E") or (g[0] == "s" and n.denominator != 1) for m in poly for g, n in m)


def cleared(poly: Poly) -> Poly:
    """The numerator: the polynomial times every sum that stands in a denominator with a whole power."""
    for _ in range(8):
        worst: dict[Generator, Fraction] = {}
        for monomial in poly:
            for name, exponent in monomial:
                if name[0] in ("q", "f", "E") and exponent < 0:
                    worst[name] = min(worst.get(name, exponent), exponent)
        if not worst:
            return poly
        for name, exponent in worst.items():
            times: Monomial = ((name, Fraction(math.ceil(-exponent))),)
            product: Poly = {}
            for monomial, coefficient in poly.items():
                product = add(product, reduced(monomial, times, coefficient))
            poly = product
    return poly
