"""Numbers in words: cardinals up to billions, fractions, mixed numbers, a sign, dozens."""

from fractions import Fraction

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
UNITS_AND_TENS = {word: n for n, word in enumerate(_SMALL)} | _TENS
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
          "tenth": 10, "eleventh": 11, "twelfth": 12, "fifteenth": 15, "sixteenth": 16, "twentieth": 20, "hundredth": 100}  # fmt: skip
_PARTS |= {name + "s": n for name, n in _PARTS.items() if not name.startswith("hal")}
_VOCABULARY = UNITS_AND_TENS.keys() | _SCALES.keys() | _PARTS.keys() | {"hundred", "and", "a", "an", "dozen", "point", "minus", "negative"}
MAX_WORDS = 24


def numeral(text: str) -> Fraction | None:
    """The number that a phrase spells, or None where a word of it is no part of a number."""
    words = text.lower().replace("-", " ").replace(",", " ").split()
    if not words or len(words) > MAX_WORDS or not _VOCABULARY.issuperset(words) or words in (["a"], ["an"]):
        return None
    if words[0] in ("minus", "negative"):
        positive = _unsigned(words[1:])
        return None if positive is None else -positive
    return _unsigned(words)


def counted(text: str) -> tuple[Fraction, str] | None:
    """A number in words and the one word of what it counts (``five apples``), else None."""
    head, _, last = text.rpartition(" ")
    if len(last) < 3 or not last.isalpha() or last.lower() in _VOCABULARY:
        return None
    number = numeral(head)
    return None if number is None else (number, last)


def _unsigned(words: list[str]) -> Fraction | None:
    if words and words[-1] in _PARTS:
        return _mixed(words)
    if "point" in words:
        at = words.index("point")
        digits = [UNITS_AND_TENS.get(w, 10) for w in words[at + 1 :]]
        whole = _cardinal(words[:at])
        if whole is None or not digits or max(digits) > 9:
            return None
        return whole + Fraction(int("".join(map(str, digits))), 10 ** len(digits))
    if len(words) > 1 and words[-1] == "dozen":
        dozens = _cardinal(words[:-1])
        return None if dozens is None else Fraction(12 * dozens)
    whole = _cardinal(words)
    return None if whole is None else Fraction(whole)


def _mixed(words: list[str]) -> Fraction | None:
    """``two thirds``, ``a half``, ``three and a half``."""
    part, rest = Fraction(1, _PARTS[words[-1]]), words[:-1]
    whole: int | None = 0
    if "and" in rest:
        at = len(rest) - 1 - rest[::-1].index("and")
        whole, rest = _cardinal(rest[:at]), rest[at + 1 :]
    top = _cardinal(rest) if rest else 1 if words == ["half"] else None
    return None if whole is None or top is None else whole + top * part


def _cardinal(words: list[str]) -> int | None:
    """Groups below a thousand with falling scales; a group is units, tens and units, or hundreds with the rest."""
    total, group, last_scale = 0, list[str](), 10**15
    for word in words:
        if word in _SCALES:
            value = _below_thousand(group)
            if value is None or _SCALES[word] >= last_scale:
                return None
            total, group, last_scale = total + value * _SCALES[word], [], _SCALES[word]
        else:
            group.append(word)
    if not group:
        return total if words else None
    value = _below_thousand(group[1:] if group[0] == "and" and total else group)
    return None if value is None else total + value


def _below_thousand(words: list[str]) -> int | None:
    if "hundred" in words:
        at = words.index("hundred")
        head, rest = words[:at], words[at + 1 :]
        rest = rest[1:] if rest[:1] == ["and"] else rest
        hundreds = _below_thousand(head)
        tail = _below_thousand(rest) if rest else 0
        return None if hundreds is None or tail is None or not 0 < hundreds < 100 or tail > 99 else 100 * hundreds + tail
    if words in (["a"], ["an"]):
        return 1
    values = [UNITS_AND_TENS.get(w) for w in words]
    if len(values) == 1:
        return values[0]
    if len(values) == 2 and words[0] in _TENS and values[1] is not None and 0 < values[1] < 10:
        return _TENS[words[0]] + values[1]
    return None
