"""Tokens of a spelled answer."""

import itertools
import re
from dataclasses import dataclass

from ttrlab.grading.constants import FUNCTIONS, NAMES, SHORT_WORDS, UNIT_WORDS
from ttrlab.grading.limits import MAX_TOKENS, Refused

TEXT_COMMANDS = frozenset("text mathrm mbox textbf textit textrm operatorname textsf texttt mathop textnormal textup textmd".split())
FUNCTION_COMMANDS = ("operatorname", "mathop", "mathrm", "text")


@dataclass(frozen=True, slots=True)
class Token:
    """``kind``: number, symbol, word, command, mark; ``spaced``: a space stood before it."""

    kind: str
    text: str
    spaced: bool = False


_PATTERN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>\d+(?:\.(?!\.)\d*)?|\.\d+)"
    r"|(?P<command>\\[A-Za-z]+\*?|\\[{}|\\#&_^])"
    r"|(?P<letters>[^\W\d_]+)"
    r"|(?P<mark><=|>=|!=|==|->|.)",
    re.DOTALL,
)
_SCIENTIFIC = re.compile(r"[eE]([+-]?\d+)(?![\w.])")


def is_product(run: str) -> bool:
    """Whether a run of letters reads as a product of symbols (``xy``, ``abc``, ``xyz``) and not as a word."""
    if not run.isascii():
        return False
    if len(run) == 2:
        return run.lower() not in SHORT_WORDS
    alphabetical = all(ord(b) - ord(a) == 1 for a, b in itertools.pairwise(run))
    vowels = sum(c in "aeiouyAEIOUY" for c in run)
    return len(run) <= 4 and (alphabetical or vowels == 0 or (set(run) <= set("abcdxz") and list(run) == sorted(run)))


def tokenize(text: str) -> list[Token]:
    """Tokens of a spelled text. Refused when there are more than the cap."""
    found: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        scientific = _SCIENTIFIC.match(text, at) if found and found[-1].kind == "number" and not spaced else None
        if scientific:
            found += [Token("mark", "*"), Token("number", "10"), Token("mark", "^"), Token("mark", "{")]
            exponent = scientific[1]
            found += [Token("mark", "-")] * exponent.startswith("-") + [Token("number", exponent.lstrip("+-")), Token("mark", "}")]
            at = scientific.end()
            continue
        match = _PATTERN.match(text, at)
        assert match is not None
        at = match.end()
        kind, piece = str(match.lastgroup), match[0]
        if kind == "space":
            spaced = True
            continue
        if kind == "command":
            name = piece.lstrip("\\") or piece
            if name in TEXT_COMMANDS:
                inner, at = _group(text, at)
                function = name in FUNCTION_COMMANDS and inner.strip() in FUNCTIONS
                named = function and (name == "operatorname" or inner.strip() not in UNIT_WORDS)
                found += [Token("command", inner.strip(), spaced)] if named else _words(inner, spaced)
            else:
                found.append(Token("command", name, spaced))
        elif kind == "letters":
            found += _letters(piece, spaced)
        else:
            found.append(Token(kind, piece, spaced))
        spaced = False
        if len(found) > MAX_TOKENS:
            raise Refused(f"more than {MAX_TOKENS} tokens")
    return found


def _group(text: str, at: int) -> tuple[str, int]:
    """The braced group or single character at ``at``, and where it ends."""
    while at < len(text) and text[at] == " ":
        at += 1
    if at >= len(text) or text[at] != "{":
        return text[at : at + 1], at + 1
    depth, start = 0, at + 1
    while at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return text[start : at - 1], at
    return text[start:], at


def _words(inner: str, spaced: bool) -> list[Token]:
    """A text wrapper: its letters are words unless single; what is not letters is mathematics."""
    found = []
    for match in re.finditer(r"([^\W\d_]+(?:[-'][^\W\d_]+)*)|([^\s]|\s+)", inner):
        if match[1] in ("mod", "and", "or"):
            found.append(Token("command", match[1], True))
        elif match[1]:
            found.append(Token("word" if len(match[1]) > 1 or match[1] in "mgsLWVKNJT" else "symbol", match[1], True))
        elif match[2].strip():
            found += [Token(t.kind, t.text, True) for t in tokenize_plain(match[2])]
    merged: list[Token] = []
    for token in found:
        if token.kind == "number" and merged and merged[-1].kind == "number" and token.text.isdigit():
            merged[-1] = Token("number", merged[-1].text + token.text, merged[-1].spaced)
        else:
            merged.append(token)
    return merged


def tokenize_plain(piece: str) -> list[Token]:
    """One character of a text wrapper as a token."""
    return [Token("number" if piece.isdigit() else "command" if piece == "\\" else "mark", piece)]


def _letters(run: str, spaced: bool) -> list[Token]:
    if len(run) == 1:
        return [Token("symbol", run, spaced)]
    if run in NAMES or run.lower() in {"infinity", "and", "or"}:
        return [
            Token(
                "command",
                {"infinity": "infty", "inf": "infty", "oo": "infty"}.get(run.lower(), run if run in NAMES else run.lower()),
                spaced,
            )
        ]
    if run in UNIT_WORDS:
        return [Token("word", run, spaced)]
    for name in ("arcsin", "arccos", "arctan", "sqrt", "sin", "cos", "tan", "cot", "log", "ln", "pi"):
        rest = run.removeprefix(name)
        if rest != run and len(rest) == 1 and name != "pi":
            return [Token("command", name, spaced), Token("symbol", rest)]
    if is_product(run):
        return [Token("symbol", c, spaced and n == 0) for n, c in enumerate(run)]
    return [Token("word", run, spaced)]
