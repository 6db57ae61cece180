"""The worker's side: reads two normal forms as JSON lines, builds sympy expressions by constructors (no text is parsed), tries to prove."""

import json
import resource
import sys
from fractions import Fraction
from typing import Any

import sympy

MEMORY = 512 * 2**20
CPU_SECONDS = 600

_FUNCTIONS = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "arccot": sympy.acot,
    "arcsec": sympy.asec,
    "arccsc": sympy.acsc,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "ln": sympy.log,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "binom": sympy.binomial,
    "factorial": sympy.factorial,
    "pow": sympy.Pow,
    "Re": sympy.re,
    "Im": sympy.im,
    "conjugate": sympy.conjugate,
}


def build_poly(frozen: list[Any]) -> Any:
    """A sympy expression from a frozen normal form: ``[[monomial, coefficient], ...]``."""
    return sympy.Add(*(sympy.Mul(_rational(c), *(_factor(g, _rational(n)) for g, n in m)) for m, c in frozen))


def _factor(name: list[Any], exponent: Any) -> Any:
    """A generator to a power; the exponents of a power of a power multiply."""
    if name[0] == "E":
        return sympy.Pow(build_generator(name[1]), exponent * build_poly([[name[2], "1"]]))
    return _power(build_generator(name), exponent)


def _power(base: Any, exponent: Any) -> Any:
    """A power; the odd root of a negative number is the real one."""
    if exponent.q % 2 and exponent.q > 1 and base.is_negative:
        return (-1) ** exponent.p * sympy.Pow(-base, exponent)
    return sympy.Pow(base, exponent)


def _rational(text: str) -> Any:
    value = Fraction(text)
    return sympy.Rational(value.numerator, value.denominator)


def build_generator(name: list[Any]) -> Any:
    """A sympy atom or function from a generator."""
    kind, rest = name[0], name[1:]
    if kind in ("i", "pi", "e"):
        return {"i": sympy.I, "pi": sympy.pi, "e": sympy.E}[kind]
    if kind == "p":
        return sympy.Integer(rest[0])
    if kind == "l":
        return sympy.log(sympy.Integer(rest[0]))
    if kind == "s":
        return sympy.Symbol(rest[0], positive=True)
    if kind == "q":
        return build_poly(rest[0])
    arguments = [build_poly(a) for a in rest[1:]]
    if rest[0] in _FUNCTIONS:
        return _FUNCTIONS[rest[0]](*arguments)
    return sympy.Function(str(rest[0]).replace(" ", "_"))(*arguments)


def decide(question: dict[str, Any]) -> str:
    """``yes`` where the difference is proved to be zero, ``no`` where it is proved not to be, else ``undecided``."""
    difference = build_poly(question["a"]) - build_poly(question["b"])
    if sympy.simplify(difference) == 0:
        return "yes"
    if not difference.free_symbols:
        zero = sympy.sqrtdenest(difference).equals(0)
        return "undecided" if zero is None else "yes" if zero else "no"
    return "undecided"


def main() -> None:
    """Serve until the parent closes the pipe."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            verdict = decide(json.loads(line))
        except (ArithmeticError, AttributeError, TypeError, ValueError, NotImplementedError, RecursionError, MemoryError) as error:
            verdict = f"undecided: {type(error).__name__}"
        print(json.dumps(verdict), flush=True)


if __name__ == "__main__":
    main()
