"""The answer that a response gives: its last closed box, or, when asked, the phrase that announces an answer."""

import re
from typing import Literal

from ttrlab.grading.boxes import bare_box, boxes

Kind = Literal["math", "choice", "integer"]
Fallback = Literal["none", "phrase"]

_LETTER = re.compile(r"[\s$*]*(?:\\(?:text|textbf|mathrm|mathbf|textrm|rm|bf)\s*\{?)?[\s$*{]*\(?([A-J])(?:\)|[.:](?=\s|$)|(?=[\s$*}\\]|$))")
_PHRASE = re.compile(
    r"(?:final\s+answer|answer|ans)[*_]{0,2}(?:\s+(?:is|are|equals|will\s+be|would\s+be|should\s+be|must\s+be|=)[*_]{0,2}\s*:?|\s*[:=：])[*_]{0,2}",
    re.IGNORECASE,
)


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
    filled = [content.strip() for content in boxes(text) if content.strip()]
    boxed = filled[-1] if filled else bare_box(text)
    found = _as_kind(boxed, kind) if boxed is not None else None
    if found is not None or fallback == "none":
        return found
    phrase = _phrase(text)
    return _as_kind(phrase, kind) if phrase is not None else None


def _as_kind(answer: str, kind: Kind) -> str | None:
    if kind == "choice":
        match = _LETTER.match(answer)
        return match.group(1) if match else None
    if kind == "integer":
        digits = re.sub(r"[\s,$]|\\[,!;]", "", answer)
        return str(int(digits)) if re.fullmatch(r"[+-]?\d{1,300}", digits, re.ASCII) else None
    return answer


def _phrase(text: str) -> str | None:
    at = max((match.end() for match in _PHRASE.finditer(text)), default=None)
    if at is None:
        return None
    line = text[at:].lstrip().split("\n", 1)[0].strip().strip("*$").rstrip(".").strip()
    return line or None
