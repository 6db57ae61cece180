"""Answers that are not mathematics: times, dates, number words, choices with their text, phrases that mean the empty set."""

import re
from dataclasses import replace
from fractions import Fraction

from ttrlab.grading.normal import constant
from ttrlab.grading.numerals import UNITS_AND_TENS, counted, numeral
from ttrlab.grading.regions import MINUS, PLUS, interval
from ttrlab.grading.units import read_unit
from ttrlab.grading.values import Value, expression

_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
_TIME = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::(\d{2}))? ?([ap])\.? ?m\.?", re.IGNORECASE)
_MONTH = "(" + "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in _MONTHS) + r")\.?"
_MONTH_DAY = re.compile(_MONTH + r" (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?", re.IGNORECASE)
_DAY_MONTH = re.compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)? (?:of )?" + _MONTH + r"(?:,? (\d{4}))?", re.IGNORECASE)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_NAMED_HOURS = {"noon": "12:00", "12 noon": "12:00", "midday": "12:00", "midnight": "00:00", "12 midnight": "00:00"}
_OCLOCK = re.compile(r"(\d{1,2}) o ?' ?clock", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,2}):([0-5]\d):00")
_BASE = re.compile(r"\(?([0-9A-Z]+)\)? ?(?:_ ?\{? ?\(? ?(?:base )?|(?:in |\()?base[- ]?)([0-9]+|[a-z]+) ?\)? ?\}?\)?", re.IGNORECASE)
_CHOICE = re.compile(
    r"(?:option |choice |answer )?(?:\(([A-J])\)[.:]?|([A-J])(?:[.)]|: ?(?![^ ]*=)))"
    r"(?! ?(?:[,;&/+*^=)<>]|and\b|or\b|\([A-J]\)))(?: ?(.*))?",
    re.IGNORECASE | re.DOTALL,
)
_INFINITY = re.compile(r"(?:positive |plus |negative |minus )?infinity|infinite(?:ly many)?", re.IGNORECASE)
_LETTERS = re.compile(r"[A-J]{3,8}")
_NAMED = re.compile(r"(?:option|choice) \(?([A-J])\)?", re.IGNORECASE)
_EMPTY = re.compile(
    r"(?:there (?:is|are) )?no(?: real| integer| such)? (?:solution|value|root|number)s?(?: exists?)?|none|(?:the )?empty set|null set",
    re.IGNORECASE,
)
_UNDEFINED = re.compile(r"undefined|(?:the limit )?does not exist|d\.?n\.?e\.?|not defined", re.IGNORECASE)


_REALS = re.compile(r"(?:all|any|every|the) real numbers?|all reals", re.IGNORECASE)
_MATRIX = re.compile(r"(?:\w{1,6}\.)?(?:Matrix|matrix|array)\((\[\[.*\]\])\)")
_PREFIXED = re.compile(r"0(?:b([01]+)|o([0-7]+)|x([0-9a-f]+))", re.IGNORECASE)
_DOMAINS = {"integers": "Z", "integer": "Z", "natural numbers": "N", "rational numbers": "Q", "complex numbers": "C"}
_ORDINAL = re.compile(r"(\d{1,6})(?:st|nd|rd|th)")
_EXCEPT = re.compile(
    r"(?:all|any|every|the) (?:real numbers?|reals)(?: [a-z])? (?:except|but|excluding|other than)(?: for)? (?:[a-z] ?= ?)?(.+)",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"(?:so,? |thus,? |therefore,? |hence,? )?(?:the )?(?:final |correct )?answer(?: is| =|:| is:)? |(?:so|thus|therefore|hence)[ ,]+",
    re.IGNORECASE,
)


_LEADING_TEXT = re.compile(r"\\(?:text|mathrm|mbox|textbf|textit|textrm) ?\{([^{}]{1,80})\}")
_HEDGE = re.compile(r"(?:approximately|approx\.?|about|roughly|around|exactly|nearly|just|only) (?=[-\d.\\$(a-z])", re.IGNORECASE)


def unannounced(text: str) -> str:
    """Without a leading "the answer is", and without "approximately" before a number."""
    if sympy := _MATRIX.fullmatch(text):
        return sympy[1]
    excepted = _EXCEPT.fullmatch(plain(text)) if "real" in text[:24] else None
    if excepted:
        return f"\\mathbb{{R}} \\setminus \\{{ {excepted[1]} \\}}"
    wrapped = _LEADING_TEXT.match(text)
    found = f"{wrapped[1].strip()} {text[wrapped.end() :]}" if wrapped else text
    cut = False
    for pattern in (_PREFIX, _HEDGE):
        match = pattern.match(found)
        found, cut = (found[match.end() :], True) if match else (found, cut)
    return found if cut else text


def plain(text: str) -> str:
    """Text wrappers opened, spaces single."""
    text = re.sub(r"\\(?:text|mathrm|mbox|textbf|textit|textrm|operatorname|textsf|texttt|textnormal)\b\s*", " ", text)
    return re.sub(r"\s+", " ", re.sub(r"[{}]", " ", text)).strip()


def special(text: str) -> Value | None:
    """The value of a spelled answer in one of these forms, or None."""
    words = plain(text)
    if _LETTERS.fullmatch(words) and list(words) == sorted(set(words)):
        return expression({tuple((("s", letter), Fraction(1)) for letter in words): Fraction(1)})
    if len(words) > 200:
        return None
    return _time(words) or _clock(words) or _date(words) or _base(words) or _named(words) or _counted(words)


def _time(words: str) -> Value | None:
    if words.lower() in _NAMED_HOURS:
        return Value("time", text=_NAMED_HOURS[words.lower()])
    match = _TIME.fullmatch(words)
    if not match or int(match[1]) > 12:
        return None
    hour = int(match[1]) % 12 + (12 if match[4].lower() == "p" else 0)
    return Value("time", text=f"{hour:02}:{match[2] or '00'}" + (f":{match[3]}" if match[3] and match[3] != "00" else ""))


def _clock(words: str) -> Value | None:
    """``06:20:00``: hours, minutes and no seconds, read like ``6:20``."""
    hour = _OCLOCK.fullmatch(words)
    if hour:
        return Value("ratio", (expression(constant(int(hour[1]))), expression(constant(0))))
    match = _CLOCK.fullmatch(words)
    if not match:
        return None
    return Value("ratio", tuple(expression(constant(int(part))) for part in match.groups()))


def _date(words: str) -> Value | None:
    iso = _ISO.fullmatch(words)
    if iso and 1 <= int(iso[2]) <= 12 and 1 <= int(iso[3]) <= 31:
        return Value("date", text=iso[0])
    match = _MONTH_DAY.fullmatch(words)
    month, day, year = match.groups() if match else (None, None, None)
    if not match:
        match = _DAY_MONTH.fullmatch(words)
        day, month, year = match.groups() if match else (None, None, None)
    if not match or month is None or day is None:
        return None
    number = next(n for n, m in enumerate(_MONTHS, start=1) if m.startswith(month.lower()[:3]))
    return Value("date", text=f"{year or '----'}-{number:02}-{int(day):02}")


def _base(words: str) -> Value | None:
    prefixed = _PREFIXED.fullmatch(words)
    if prefixed:
        return Value(
            "base", text=f"{(prefixed[prefixed.lastindex or 1]).upper().lstrip('0') or '0'}_{(2, 8, 16)[(prefixed.lastindex or 1) - 1]}"
        )
    match = _BASE.fullmatch(words)
    if not match or (not any(c.isdigit() for c in match[1]) and len(match[1]) < 2):
        return None
    base = UNITS_AND_TENS.get(match[2].lower(), int(match[2]) if match[2].isdigit() and len(match[2]) < 4 else 0)
    digits = match[1].upper().lstrip("0") or "0"
    if not 2 <= base <= 36 or any(int(c, 36) >= base for c in digits):
        return None
    return Value("base", text=f"{digits}_{base}")


def _named(words: str) -> Value | None:
    match = _NAMED.fullmatch(words)
    if match:
        return Value("choice", text=match[1].upper())
    match = _CHOICE.fullmatch(words)
    if match and (match[1] or match[2]).isupper():
        return Value("choice", text=match[1] or match[2])
    if _INFINITY.fullmatch(words):
        return MINUS if words.lower().startswith(("neg", "minus")) else PLUS
    if _EMPTY.fullmatch(words):
        return Value("empty")
    domain = _DOMAINS.get(words.lower().removeprefix("the ").removeprefix("all ").removeprefix("set of ").removeprefix("any "))
    if domain:
        return word(f"set of {domain}")
    if _REALS.fullmatch(words):
        return interval(MINUS, PLUS, "()")
    return Value("word", text="undefined") if _UNDEFINED.fullmatch(words) else None


def _counted(words: str) -> Value | None:
    """A number in words, alone or with the word of what it counts."""
    if not words.isascii() or words[:1].isdigit():
        return None
    number = numeral(words)
    if number is not None:
        return expression(constant(number))
    found = counted(words)
    return replace(expression(constant(found[0])), unit=read_unit(found[1])) if found else None


def word(text: str) -> Value:
    """A phrase: case, punctuation, articles and spacing do not count."""
    pieces = re.findall(r"\w+|[^\w\s]", text.casefold().rstrip("!") or text)
    kept = [p for p in pieces if p not in {"the", "a", "an", ".", "'", '"', "-", "{", "}", "\\"}] or pieces
    return Value("word", text=" ".join(kept))
