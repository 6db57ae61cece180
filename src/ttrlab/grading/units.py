"""Units: what a number is counted in: a dimension with powers and a factor to its base unit; an unknown word is a dimension of its own."""

import re
from fractions import Fraction

_TABLE: dict[str, dict[str, Fraction | int]] = {
    "length": {
        "m meter metre": 1,
        "cm centimeter centimetre": Fraction(1, 100),
        "mm millimeter millimetre": Fraction(1, 1000),
        "km kilometer kilometre": 1000,
        "in inch inche": Fraction(254, 10000),
        "ft foot feet": Fraction(3048, 10000),
        "yd yard": Fraction(9144, 10000),
        "mi mile": Fraction(1609344, 1000),
    },
    "time": {"s sec second": 1, "min minute": 60, "h hr hour": 3600, "day": 86400, "week": 604800},
    "mass": {
        "g gram": 1,
        "kg kilogram": 1000,
        "mg milligram": Fraction(1, 1000),
        "lb lbs pound": Fraction(45359237, 100000),
        "oz ounce": Fraction(45359237, 1600000),
        "tonne": 1000000,
    },
    "volume": {
        "l liter litre": 1,
        "ml milliliter millilitre": Fraction(1, 1000),
        "gallon gal": Fraction(3785411784, 10**9),
        "quart qt": Fraction(946352946, 10**9),
        "pint pt": Fraction(473176473, 10**9),
    },
    "calendar": {"month": 1, "year yr": 12, "decade": 120, "century centurie": 1200},
    "dollar": {"dollar usd buck": 1, "cent ¢": Fraction(1, 100)},
    "percent": {"percent percentage pct": 1},
    "degree": {"degree deg": 1},
    "radian": {"radian rad": 1},
    "celsius": {"celsius centigrade": 1},
    "fahrenheit": {"fahrenheit": 1},
    "kelvin": {"k kelvin": 1},
    "force": {"n newton": 1, "kn kilonewton": 1000},
    "energy": {"j joule": 1, "kj kilojoule": 1000, "ev": Fraction(1602176634, 10**28)},
    "power": {"w watt": 1, "kw kilowatt": 1000},
    "voltage": {"v volt": 1},
    "resistance": {"ω omega ohm": 1},
    "current": {"amp ampere": 1},
    "pressure": {"pa pascal": 1, "kpa kilopascal": 1000},
    "frequency": {"hz hertz": 1, "khz kilohertz": 1000},
    "amount": {"mol mole": 1},
    "euro": {"euro eur": 1},
    "sterling": {"sterling gbp": 1},
}
UNITS: dict[str, tuple[str, Fraction]] = {
    name: (dimension, Fraction(factor)) for dimension, units in _TABLE.items() for names, factor in units.items() for name in names.split()
}
_SINGULAR = {"people": "person", "persons": "person", "children": "child", "men": "man", "women": "woman"}
_IGNORED = frozenset(["of", "the", "in", "a", "an", "or", "about", "approximately", "exactly", "total", "each"])

Unit = tuple[tuple[tuple[str, int], ...], Fraction]
"""Dimension powers, sorted, and the factor to base units."""


def read_unit(text: str) -> Unit:
    """The unit that a text names: ``square feet``, ``cm^2``, ``m/s``, ``miles per hour``."""
    text = re.sub(r"\bper\b", "/", text.replace(".", " ").replace("per cent", "percent")).replace("mph", "mi / h")
    text = re.sub(r"\bkmh\b|\bkph\b", "km / h", re.sub(r"\bms(?= ?\^[ {]*-)", "m s", text))
    text = re.sub(r"\^\s*-?\s*", lambda m: "^" + "-" * ("-" in m[0]), re.sub(r"[{}]|\bcdot\b", " ", text).replace("^ ", "^"))
    text = re.sub(
        r"\bdegrees? (?:c\b|celsius)", "celsius", re.sub(r"\bdegrees? (?:f\b|fahrenheit)", "fahrenheit", text, flags=re.I), flags=re.I
    )
    powers: dict[str, int] = {}
    factor, side, pending = Fraction(1), 1, 1
    last = ("unit", Fraction(1))
    for piece in re.findall(r"/|\^-?\d+|[^\s/^*]+", text):
        word = piece.lower()
        if piece == "/":
            side = -1
        elif word in ("square", "sq", "cubic", "cu"):
            pending = 2 if word.startswith("sq") else 3
        elif piece.startswith("^"):
            extra = int(piece[1:]) - 1 if abs(int(piece[1:])) < 10 else 0
            name, scale = last
            powers[name] = powers.get(name, 0) + extra * side
            factor *= scale ** (extra * side)
        elif word not in _IGNORED or (word == "in" and not powers):
            last = _unit_word(word)
            name, scale = last
            powers[name] = powers.get(name, 0) + side * pending
            factor *= scale ** (side * pending)
            pending = 1
    if "volume" in powers:
        cubed = powers.pop("volume")
        powers["length"] = powers.get("length", 0) + 3 * cubed
        factor *= Fraction(1, 1000) ** cubed
    return tuple(sorted((n, p) for n, p in powers.items() if p and n != "unit")), factor


def _unit_word(word: str) -> tuple[str, Fraction]:
    """Dimension and factor of one word, singular or plural."""
    word = _SINGULAR.get(word, word)
    for name in (word, word.removesuffix("s"), word.removesuffix("es")):
        if name in UNITS:
            return UNITS[name]
    return word.removesuffix("s") if len(word) > 3 else word, Fraction(1)
