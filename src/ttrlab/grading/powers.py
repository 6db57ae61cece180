"""Powers, exponentials and logarithms of normal forms."""

from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading.limits import MAX_EXPAND, MAX_TERMS, Refused
from ttrlab.grading.normal import Generator, Monomial, Poly

POSITIVE = ("p", "pi", "e")


def power(base: Poly, exponent: Poly) -> Poly:
    """``base ** exponent``; a tower stays a power of a power, never a number. Refused for 0 to a negative or unknown power."""
    r = nf.as_rational(exponent)
    if r is not None:
        return _rational_exponent(base, r)
    if not base:
        raise Refused("zero to an unknown power")
    if nf.as_rational(base) == 1:
        return base
    return _general_exponent(base, exponent)


def _rational_exponent(base: Poly, r: Fraction) -> Poly:
    if r == 0:
        return nf.constant(1)
    if not base:
        if r < 0:
            raise Refused("a division by zero")
        return {}
    if r < 0:
        return (
            _rational_exponent(nf.inverse(base), -r) if len(base) == 1 or r.denominator == 1 else nf.inverse(_rational_exponent(base, -r))
        )
    if len(base) == 1:
        return _single_term(base, r)
    if r.denominator == 1 and r <= MAX_EXPAND and len(base) ** min(int(r), 8) <= MAX_TERMS * 8:
        return nf.integer_power(base, int(r))
    denested = _denested(base) if r == nf.HALF else None
    if denested is not None:
        return denested
    head, rest = nf.content(base)
    lead_negative = nf.freeze(rest)[0][1] < 0
    if lead_negative and r.denominator == 1:
        sign = -1 if r.numerator % 2 else 1
        return nf.multiply(_single_term({m: c * sign if not m else c for m, c in head.items()}, r), nf.generator(("q", _negated(rest)), r))
    return nf.multiply(_single_term(head, r), nf.generator(("q", nf.freeze(rest)), r))


def _denested(base: Poly) -> Poly | None:
    """sqrt(a + b sqrt(d)) = sqrt((a+t)/2) +- sqrt((a-t)/2) with t = sqrt(a^2 - b^2 d), where t is rational; else None."""
    rest = {m: c for m, c in base.items() if m}
    a = base.get(nf.ONE, Fraction(0))
    if len(rest) != 1 or a <= 0 or any(g[0] != "p" or n != nf.HALF for g, n in next(iter(rest))):
        return None
    square = nf.as_rational(nf.multiply(rest, rest))
    t = None if square is None or a * a < square else nf.as_rational(nf.rational_power(a * a - square, nf.HALF) if a * a > square else {})
    if t is None:
        return None
    sign = 1 if next(iter(rest.values())) > 0 else -1
    low = nf.rational_power((a - t) / 2, nf.HALF) if a > t else {}
    return nf.add(nf.rational_power((a + t) / 2, nf.HALF), low, sign)


def _negated(poly: Poly) -> nf.Frozen:
    return nf.freeze({m: -c for m, c in poly.items()})


def _single_term(base: Poly, r: Fraction) -> Poly:
    """A power of ``coefficient * monomial``: roots of positive constants multiply out, a root of an even power is an absolute value."""
    ((monomial, coefficient),) = base.items()
    if r.denominator == 1 and coefficient.numerator.bit_length() * r < 40_000 and coefficient.denominator.bit_length() * r < 40_000:
        return nf.reduced((), tuple((g, n * r) for g, n in monomial), coefficient ** int(r))
    result = nf.rational_power(abs(coefficient), r)
    if coefficient < 0:
        result = nf.multiply(result, _minus_one(r))
    for name, n in monomial:
        if name[0] in POSITIVE or r.denominator == 1 or (n == 1 and name != nf.IMAGINARY):
            result = nf.multiply(result, nf.reduced((), ((name, n * r),), Fraction(1)))
        elif n.denominator == 1 and n % 2 == 0 and r == nf.HALF:
            inner = nf.generator(name, n / 2)
            result = nf.multiply(result, inner if n % 4 == 0 else nf.generator(("f", "abs", nf.freeze(inner))))
        else:
            result = nf.multiply(result, nf.generator(("q", nf.freeze(nf.generator(name, n))), r))
    return result


def _minus_one(r: Fraction) -> Poly:
    """(-1)^r: the real root for odd denominators, i for square roots."""
    if r.denominator % 2:
        return nf.constant(-1 if r.numerator % 2 else 1)
    if r.denominator == 2:
        return nf.reduced((), ((nf.IMAGINARY, Fraction(r.numerator % 4)),), Fraction(1))
    return nf.generator(("q", nf.freeze(nf.constant(-1))), r)


def _general_exponent(base: Poly, exponent: Poly) -> Poly:
    """A power whose exponent has symbols, roots or towers, split over the exponent's terms: ``2^(x+1)`` is ``2 * 2^x``."""
    if len(base) > 1:
        return nf.generator(("f", "pow", nf.freeze(base), nf.freeze(exponent)))
    ((monomial, coefficient),) = base.items()
    bases: list[tuple[Generator, Fraction]] = list(monomial)
    for prime, times in nf.factorize(abs(coefficient.numerator)):
        bases.append((("p", prime), Fraction(times)))
    for prime, times in nf.factorize(coefficient.denominator):
        bases.append((("p", prime), Fraction(-times)))
    if coefficient < 0:
        bases.append((("q", nf.freeze(nf.constant(-1))), Fraction(1)))
    result = nf.constant(1)
    for name, n in bases:
        for part, c in exponent.items():
            result = nf.multiply(result, _base_to_term(name, n * c, part))
    return result


def _base_to_term(name: Generator, c: Fraction, part: Monomial) -> Poly:
    """``name ** (c * part)``; e to an imaginary multiple of pi is a number, e to a logarithm its argument."""
    if part == nf.ONE:
        return _single_term(nf.generator(name), c) if c > 0 else nf.inverse(_single_term(nf.generator(name), -c))
    if name == nf.IMAGINARY:
        turned = nf.multiply(nf.multiply(nf.generator(nf.IMAGINARY), nf.generator(nf.PI)), {part: c / 2})
        return power(nf.generator(nf.E), turned)
    if name == nf.E and dict(part) == {nf.IMAGINARY: 1, nf.PI: 1}:
        from ttrlab.grading.functions import trigonometric

        angle = nf.generator(nf.PI)
        cosine, sine = (trigonometric(wave, nf.multiply(angle, nf.constant(c))) for wave in ("cos", "sin"))
        return nf.add(cosine, nf.multiply(sine, nf.generator(nf.IMAGINARY)))
    if name == nf.E and len(part) == 1 and part[0][0][0] == "l" and part[0][1] == 1:
        return nf.rational_power(Fraction(int(str(part[0][0][1]))), c)
    return nf.generator(("E", name, part), c)


def logarithm(argument: Poly) -> Poly:
    """Natural logarithm, split over the factors of one term, symbols positive: ``ln(1/2)`` is ``-ln 2``, ``ln(e^x)`` is ``x``."""
    if not argument:
        raise Refused("the logarithm of zero")
    if len(argument) == 1:
        ((monomial, coefficient),) = argument.items()
        if coefficient > 0 and all(g[0] in ("p", "e", "pi", "E", "s") for g, _ in monomial):
            result: Poly = {}
            for prime, n in (*nf.factorize(coefficient.numerator), *((p, -n) for p, n in nf.factorize(coefficient.denominator))):
                result = nf.add(result, nf.generator(("l", prime)), n)
            for name, exponent in monomial:
                result = nf.add(result, _log_generator(name), exponent)
            return result
    return nf.generator(("f", "ln", nf.freeze(argument)))


def _log_generator(name: Generator) -> Poly:
    if name[0] == "p":
        return nf.generator(("l", name[1]))
    if name[0] == "e":
        return nf.constant(1)
    if name[0] == "E" and isinstance(name[1], tuple) and name[1][0] in POSITIVE:
        return nf.multiply(_log_generator(name[1]), {name[2]: Fraction(1)})
    return nf.generator(("f", "ln", nf.freeze(nf.generator(name))))
