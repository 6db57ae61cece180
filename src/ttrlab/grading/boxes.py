"""The boxes of a response: one linear pass over the text, no regular expression that could backtrack."""

import itertools
import re

OPENERS = ("\\boxed", "\\fbox", "\\framebox", "\x08oxed")
"""Commands that box an answer; the last is ``\\boxed`` after its first two characters were read as an escape."""


def _opener(text: str, at: int) -> int:
    """Length of the box command at ``at``, spaces after it included, when a brace follows; else 0."""
    for name in OPENERS:
        if text.startswith(name, at):
            end = at + len(name)
            while end < len(text) and end < at + 40 and text[end] in " \t\n":
                end += 1
            return end - at if text.startswith("{", end) else 0
    return 0


def last_box(text: str) -> str | None:
    """What the last closed box that is not empty holds, or None."""
    return next((text[start:end].strip() for start, end in reversed(boxes(text)) if text[start:end].strip()), None)


_BETWEEN = re.compile(r"(?:\s|[$,;.&]|\\[,;: \\()]|\\q?quad|and|or|\\text ?\{\s*(?:and|or)?\s*\})*")


def joined_boxes(text: str) -> str | None:
    """The contents of several boxes with nothing between them but commas and the like, joined by commas; else None."""
    outer: list[tuple[int, int]] = []
    for start, end in boxes(text):
        while outer and outer[-1][0] > start:
            outer.pop()
        outer.append((start, end))
    if len(outer) < 2:
        return None
    gaps = [text[: outer[0][0]], *(text[a[1] + 1 : b[0]] for a, b in itertools.pairwise(outer)), text[outer[-1][1] + 1 :]]
    bare = [re.sub(r"(?:\\(?:boxed|fbox|framebox)|\x08oxed)\s*\{$", "", gap) for gap in gaps]
    if all(len(gap) < 60 and _BETWEEN.fullmatch(gap) for gap in bare):
        return ", ".join(text[start:end].strip() for start, end in outer)
    return None


_MARK = re.compile(r"[\\\x08{}]")


def boxes(text: str) -> list[tuple[int, int]]:
    """Start and end of the content of every closed box, in the order in which they close; a box around a box closes after it.

    ``\\{`` and ``\\}`` are characters of the answer, not groups; a brace that never closes is passed over.
    """
    found: list[tuple[int, int]] = []
    stack: list[int] = []
    at = 0
    while match := _MARK.search(text, at):
        at, mark = match.start(), match[0]
        if mark in "\\\x08":
            length = _opener(text, at)
            if length:
                stack.append(at + length + 1)
                at += length + 1
            else:
                at += 2 if text[at + 1 : at + 2] in ("{", "}") or text.startswith("\\\\{", at) else 1
            continue
        if mark == "{":
            stack.append(-1)
        elif mark == "}" and stack:
            start = stack.pop()
            if start >= 0:
                found.append((start, at))
        at += 1
    return found


def bare_box(text: str) -> str | None:
    """The number that a last ``\\boxed 5`` without braces holds, or None."""
    at = text.rfind("\\boxed ")
    words = text[at + 7 : at + 60].replace("$", " ").split() if at >= 0 else []
    if not words or text[at + 7 :].lstrip().startswith("{"):
        return None
    number = words[0].rstrip(".,;")
    return number if number.lstrip("+-").replace(".", "", 1).isdigit() else None
