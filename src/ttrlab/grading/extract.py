"""The answer that a response gives: its last closed box, or, when asked, the phrase that announces an answer."""

import re
from typing import Literal

from ttrlab.grading import normal as nf
from ttrlab.grading.boxes import bare_box, last_box
from ttrlab.grading.canon import read
from ttrlab.grading.forms import plain
from ttrlab.grading.limits import MAX_CHARACTERS
from ttrlab.grading.text import spell

Kind = Literal["math", "choice", "integer"]
Fallback = Literal["none", "phrase"]

_ANNOUNCED = re.compile(
    r"(?<![A-Za-z])(?:final[ _]answer|answer|ans|final result|result is)(?![A-Za-z])[\"'*_]{0,3}"
    r"(?:[ \t]{1,4}(?!is\b|are\b)[A-Za-z]{1,12}){0,5}?"
    r"(?:(?:[ \t]{1,4}(?:is|are|equals|(?:will|would|should|must|to) be))(?![A-Za-z])[*_]{0,3}[ \t]{0,4}[:：]?|[ \t]{0,4}[:=：])[*_]{0,3}",
    re.IGNORECASE,
)
_CORRECT = re.compile(r"(?<![A-Za-z])(?:option|choice|answer) (?=\(?[A-J]\)? is (?:the )?(?:correct|right|best)\b)", re.IGNORECASE)
_CHOSEN = re.compile(
    r"(?<![A-Za-z])(?:correct|right|best)[ \t](?:option|choice)[ \t](?:is|:)[*_]{0,3}|(?<![A-Za-z])(?:choose|select|pick)[ \t]",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^[ \t#*_]{0,6}(?:final )?answer[ \t*_:]{0,6}\n|答案(?:是|为|[:：])", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_STOP = re.compile(
    r"[.!?](?=\s|$)|[。！？]|[,;]? (?:because|since|which|where|so that|I hope|as required)\b"
    r"| \((?:or|i\.e\.|that is|about|approximately)[ ,]|\n|<"
)
_QUOTED = re.compile(r'\s{0,4}"((?:[^"\\\n]|\\.){1,2000})"\s{0,4}(?=[,}\n]|$)')
_FURTHER = re.compile(r"(?:[,;] ?(?:and |or )?| and | or ) {0,2}\$(?!\$)")
_OPENERS = {"$$": "$$", "$": "$", "\\(": "\\)", "\\[": "\\]", "`": "`"}
_LEAD = re.compile(r"(?:the )?(?:final |correct )?(?:answer|option|choice)(?: is)?:? ?", re.IGNORECASE)
_LETTER = re.compile(r"[(\[]?([A-Ja-j])(?:[)\]][.:]?|[.:](?!\w)|(?=$)|(?=[,;*]| (?:because|since|as|is|which|-|\()))(.*)", re.DOTALL)
_SECOND = re.compile(r"[,;]? ?(?:or|and|&|/|,)? ?\(?[A-J]\)?\.?$")
_LAST_LINE = re.compile(r"[(*\[]{0,3}([A-J])[)*.\]]{0,3}")
_ONLY_LINE = re.compile(r"[(*\[]{0,3}([A-J])[).:\]][ *][^\n]{1,200}")


def extract(text: str, kind: Kind = "math", fallback: Fallback = "none") -> str | None:
    """The answer in ``text``, or None where it gives none.

    ``kind``: ``math`` any expression; ``integer`` an integer, printed in digits; ``choice`` one letter A to J.
    ``fallback``: ``none`` reads boxes only; ``phrase`` also reads ``<answer>``, ``####`` and "the answer is ...".
    ValueError for another kind or fallback.
    """
    if kind not in ("math", "choice", "integer"):
        raise ValueError(f"kind is {kind!r}, expected 'math', 'choice' or 'integer'")
    if fallback not in ("none", "phrase"):
        raise ValueError(f"fallback is {fallback!r}, expected 'none' or 'phrase'")
    boxed = last_box(text) or bare_box(text)
    found = _as_kind(boxed, kind) if boxed is not None else None
    if found is not None or fallback == "none":
        return found
    phrase = announced(text, kind)
    found = _as_kind(phrase, kind) if phrase is not None else None
    return _last_line(text) if found is None and phrase is None and kind == "choice" else found


def _as_kind(answer: str, kind: Kind) -> str | None:
    """The answer as its kind wants it, or None where it is of another kind."""
    if kind == "choice":
        return letter(answer)
    if kind == "integer":
        return integer(answer)
    return answer


def letter(answer: str) -> str | None:
    """The one letter that an answer chooses; None for two letters, formulas and text."""
    if len(answer) > MAX_CHARACTERS:
        return None
    words = plain(spell(answer)).replace("\\dollar", " ").replace("\\", " ").strip("*_ `\"'")
    words = words[match.end() :] if (match := _LEAD.match(words)) else words
    chosen = _LETTER.match(words.strip("*_ `\"'"))
    if chosen is None or (chosen[2].strip() and _SECOND.fullmatch(chosen[2])):
        return None
    return chosen[1].upper()


def integer(answer: str) -> str | None:
    """Digits of the integer that an answer is, its label and unit dropped; else None."""
    value = read(answer)
    if value.kind in ("eq", "chain"):
        value = read(answer.rpartition("=")[2])
    number = nf.as_rational(dict(value.poly)) if value.kind == "expr" else None
    if number is None or number.denominator != 1 or number.numerator.bit_length() > 10_000:
        return None
    return str(number.numerator)


def announced(text: str, kind: Kind) -> str | None:
    """What the last ``<answer>`` pair holds, else what follows the last ``####``, else the last announcing phrase."""
    tagged = _tagged(text)
    if tagged is not None:
        return tagged
    ends = [m.end() for pattern in (_ANNOUNCED, _HEADING) for m in pattern.finditer(text)]
    if kind == "choice":
        ends += [m.end() for pattern in (_CHOSEN, _CORRECT) for m in pattern.finditer(text)]
    if "####" in text:
        line = text[text.rindex("####") + 4 :].strip().split("\n", 1)[0].strip()
        heading = line[:1].isalpha() and text.rindex("####") < max(ends, default=-1)
        if line and not heading:
            return line
    for end in sorted(ends, reverse=True)[:8]:
        found = first_answer(text[end : end + 4 * MAX_CHARACTERS])
        if found:
            return found
    return None


def _tagged(text: str) -> str | None:
    opened, found = -1, None
    for match in _TAG.finditer(text):
        if not match[1]:
            opened = match.end()
        elif opened >= 0:
            found, opened = text[opened : match.start()].strip() or found, -1
    return found


def _closing(rest: str, closer: str, start: int) -> int:
    """Where ``closer`` next stands without a backslash before it, or -1."""
    end = rest.find(closer, start)
    while end > 0 and closer[0] == "$" and rest[end - 1] == "\\":
        end = rest.find(closer, end + 1)
    return end


def first_answer(rest: str) -> str | None:
    """The formula at the head of a text, or its words up to the end of the sentence; an announcement without an answer gives None."""
    quoted = _QUOTED.match(rest)
    if quoted:
        return quoted[1].replace("\\\\", "\\").strip() or None
    rest = rest.lstrip(' \t\r\n:：*_"}')
    for opener, closer in _OPENERS.items():
        if rest.startswith(opener):
            end = _closing(rest, closer, len(opener))
            line = rest.find("\n\n", len(opener))
            if end > 0 and (line < 0 or end < line):
                inner = rest[len(opener) : end].strip()
                if opener == "`":
                    return first_answer(inner)
                after = _FURTHER.match(rest, end + len(closer))
                further = first_answer(rest[after.end() - 1 :]) if after and inner and opener == "$" else None
                return f"{inner}, {further}" if further else inner.rstrip(".,;") or None
    stop = _STOP.search(rest)
    head = rest[: stop.start()] if stop else rest
    head = head.strip().strip('*_`"').rstrip(".,;:").strip()
    if head.count("}") > head.count("{"):
        head = head.rstrip("} ")
    if head.count("$") == 2:
        head = head.replace("$", "")
    return head or None


def _last_line(text: str) -> str | None:
    """The letter that is a response's whole last line, or that heads a response of one line."""
    if only := _ONLY_LINE.fullmatch(text.strip()[:300]):
        return only[1]
    lines = text.rstrip().rsplit("\n", 1)
    match = _LAST_LINE.fullmatch(lines[-1].strip()) if len(lines[-1]) < 20 else None
    return match[1] if match else None
