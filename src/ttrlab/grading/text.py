"""Spelling: Unicode forms, LaTeX layout and wrappers brought to one plain spelling, without a change of meaning."""

import re
import unicodedata
from functools import partial

from ttrlab.grading.boxes import joined_boxes, last_box
from ttrlab.grading.characters import CHARACTERS, GREEK, NAMES, SUB, SUPER

_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\x00]")
_FRACTIONS = re.compile("[¼½¾⅐-⅞↉]")
_ESCAPES = {"\x0crac": "\\frac", "\x08oxed": "\\boxed", "\text{": "\\text{", "\times": "\\times", "\x08egin": "\\begin"}
_LAYOUT = re.compile(
    r"\\(?:left|right|middle|bigl|bigr|Bigl|Bigr|biggl|biggr|Biggl|Biggr|big|Big|bigg|Bigg|displaystyle|textstyle|scriptstyle|limits"
    r"|nolimits|protect|rm|bf|it|hline|tiny|small|normalsize|large|Large|LARGE|huge|Huge)(?![A-Za-z])\.?"
)
_SPACES = re.compile(r"\\[,;:> ]|\\q?quad|\\(?:thinspace|enspace|hspace\{[^{}]*\}|hfill|space)(?![A-Za-z])|~")
_RENAMED = re.compile(
    r"\\(dfrac|tfrac|cfrac|nicefrac|sfrac|rightarrow|longrightarrow|leq|geq|leqslant|geqslant|neq|lt|gt|dbinom|tbinom|times|cdot|div|varnothing|lbrace|rbrace|lbrack|rbrack"
    r"|bmod|pmod|mod|ast|dots|ldots|cdots|vert|mid|lvert|rvert|degree|colon|minus|infin|cot|middot)(?![A-Za-z])"
)
_WRAPPERS = re.compile(
    r"\\(?:mathbf|mathit|mathsf|mathtt|boldsymbol|bm|mathcal|displaylines|emph|underline|ensuremath|boxed|fbox|hbox"
    r"|vec|mathord|num|numprint|textcolor ?\{\w{1,20}\})(?=\s*\{)"
)
_COLOUR = re.compile(r"\\color\s?\{\w{1,20}\}|\\[hv]?phantom\s?\{[^{}]{0,40}\}")
_TAGS = re.compile(r"</?(?:answer|b|i|strong|em|p)>")
_PERIOD = re.compile(r"\\dot ?\{?(\d)\}?(\d*)\\dot ?\{?(\d)\}?")
_OVERLINED = re.compile("((?:\\d[\u0304\u0305])+)")
_DOTTED = re.compile("(\\d)\u0307(?:(\\d*)(\\d)\u0307)?")
_POLAR = re.compile(r"(?<=[\w})]) ?(?:\\angle|∠) ?\(?(-?[\d.]+) ?(\^ ?\{? ?\\circ ?\}?)\)?")
_MONEY_TEXT = re.compile(r"\\(?:text|mathrm|mbox) ?\{ ?(\\dollar ?[\d.,]{1,30}) ?\}")
_DOTTED_THOUSANDS = re.compile(r"^([1-9]\d{0,2})((?:\.\d{3}){2,})$")
_HOURS = re.compile(r"^(\d{1,4}) ?hr?s? (\d{1,2}) ?m(?:in|ins)?$")
_MATLAB = re.compile(r"^\[ ?(-?[\d./]+(?:[ ,]+-?[\d./]+)*(?: ?; ?-?[\d./]+(?:[ ,]+-?[\d./]+)*)+) ?\]$")
_ARC = re.compile(r"(\d{1,3}) ?\^ ?\{? ?\\circ ?\}? ?(\d{1,2}) ?\^?\{?(?:'|\\prime)\}?(?: ?(\d{1,2}) ?(?:''|\"))?")
_DEGREES = re.compile(r"\\(?:text|mathrm) ?\{ ?\^ ?\\circ ?([CF]?) ?\}")
_LEAD = re.compile(r"^(?:=|:|\\approx|\\sim|\\therefore|\\Rightarrow|\\implies)(?![A-Za-z=])\s*")
_UNIT_FRACTION = re.compile(
    r"\\frac ?\{ ?\\(?:text|mathrm) ?\{([^{}]{1,20})\} ?\} ?\{ ?\\(?:text|mathrm) ?\{([^{}]{1,20})\} ?(\^ ?\{?\d\}?)? ?\}"
)
_BARE_TEXT = re.compile(r"\\(?:text|mathrm|mbox) ?\{ ?([\d.,:+\-*/()^ ]{1,40}) ?\}")
_PAIRED_MARKS = re.compile(r"([*_'\"`]{1,3})(.*[^*_'\"`\s])\1", re.DOTALL)
_UNDERSCORED = re.compile(r"(?<![\w.])(\d{1,3})((?:_\d{3})+)(?![\w{])")
_ASIDE = re.compile(r"(.*\S) \((?:i\. ?e\.?,?|that is,?|or|=) ([^()]+)\)", re.DOTALL)
_ROUNDED = re.compile(r"(.*\S) ?\((?:approximately|approx\.?|about|roughly|rounded to|\\approx) ?([^()]+)\)", re.DOTALL)
_TIMES = re.compile(r"(?<=\d) ?[xX] ?(?=10 ?\^)")
_COUNTED = re.compile(r"(?:\{\})?[_^]\{?(\d{1,9})\}? ?C ?_\{?(\d{1,9})\}?")
_THOUSANDS = re.compile(r"(?<![\d.])(\d{1,3})((?:\s{0,3}(?:\{,\}\s?(?:\\!)?|,\s?\\!|\\!,|\u00a0|\u202f|\u2009)\s{0,3}\d{3}(?!\d))+)")
_PLAIN_THOUSANDS = re.compile(r"^([^\d(\[{]*)([1-9]\d{0,2}(?:,\d{3})+)(?![\d,])")
_ROUND_THOUSANDS = re.compile(r"^\(([1-9]\d{0,2}(?:,000)+)\)$")
_QUOTED_THOUSANDS = re.compile(r"(?<![\w'])(\d{1,3})((?:'\d{3})+)(?![\w'])")
_DECIMAL_COMMA = re.compile(r"^([-+]?[1-9]\d{0,2}(?: \d{3})+),(\d{1,2})$")
_SPACED_THOUSANDS = re.compile(r"^([-+]?)([1-9]\d{0,2}(?: \d{3})+)(?![\d ]*[/\d,])")


def _scripts(text: str) -> str:
    """Runs of Unicode superscripts and subscripts as ``^{..}`` and ``_{..}``."""
    for table, mark in ((SUPER, "^"), (SUB, "_")):
        pattern = "[" + re.escape("".join(table)) + "]+"
        text = re.sub(pattern, partial(_script, table, mark), text)
    return text


def _script(table: dict[str, str], mark: str, match: re.Match[str]) -> str:
    return mark + "{" + "".join(table[c] for c in match[0]) + "}"


def _vulgar(match: re.Match[str]) -> str:
    top, bottom = unicodedata.normalize("NFKD", match[0]).split("\u2044")
    return f"\\frac{{{top}}}{{{bottom}}}"


def _join_digits(match: re.Match[str]) -> str:
    return match[1] + re.sub(r"\D", "", match[2])


def _rows(match: re.Match[str]) -> str:
    """``[1 2; 3 4]`` as ``[[1,2],[3,4]]``."""
    rows = [",".join(re.split(r"[ ,]+", row.strip())) for row in match[1].split(";")]
    return "[" + ",".join(f"[{row}]" for row in rows) + "]"


def _overlined(match: re.Match[str]) -> str:
    """Digits with combining bars as ``\\overline{..}``."""
    return "\\overline{" + "".join(c for c in match[1] if c.isdigit()) + "}"


def _arc(match: re.Match[str]) -> str:
    """Degrees, minutes and seconds of an angle as one fraction of a degree."""
    seconds = int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3] or 0)
    return f"\\frac{{{seconds}}}{{3600}}^\\circ"


def spell(answer: str) -> str:
    """One plain spelling: no layout commands, no math delimiters, ASCII where a character has an ASCII or LaTeX form."""
    text = _INVISIBLE.sub("", answer)
    for wrong, right in _ESCAPES.items():
        text = text.replace(wrong, right)
    if "\\boxed" in text or "\\fbox" in text:
        text = joined_boxes(text) or last_box(text) or text
    text = _PERIOD.sub(r"\\overline{\1\2\3}", _line_breaks(_TAGS.sub(" ", text)))
    text = _UNDERSCORED.sub(_join_digits, _BARE_TEXT.sub(r" \1 ", text))
    text = _THOUSANDS.sub(_join_digits, text)
    text = _FRACTIONS.sub(_vulgar, _scripts(text))
    text = _DOTTED.sub(r"\\overline{\1\2\3}", _OVERLINED.sub(_overlined, text))
    text = "".join(CHARACTERS.get(c) or (f"\\{GREEK[c]} " if c in GREEK else c) for c in text)
    text = unicodedata.normalize("NFKC", text)
    text = "".join(CHARACTERS.get(c, c) for c in text)
    text = text.replace("\\!", "").replace("\\%", "%").replace("**", "^" if re.search(r"\w\*\*[\w({]", text) else "")
    text = _COLOUR.sub(" ", _LAYOUT.sub(" ", text))
    text = _SPACES.sub(" ", text)
    text = _POLAR.sub(r" \\cis(\1\2)", text)
    text = re.sub(r"(?:\bm ?)?\\(?:angle|measuredangle|triangle)(?![A-Za-z])", " ", _WRAPPERS.sub(" ", text))
    text = _RENAMED.sub(lambda m: NAMES[m[1]], text)
    text = re.sub(r"(?<=[)\]}]) ?(?:U|cup|union) ?(?=[(\[{])", " \\\\cup ", _delimiters(text))
    text = _LEAD.sub("", _DEGREES.sub(r"^\\circ \1", _ARC.sub(_arc, text)))
    text = _MONEY_TEXT.sub(r" \1 ", re.sub(r"\\text ?\{ ?(\\dollar) ?\}", r"\1 ", text))
    text = _COUNTED.sub(r"\\binom{\1}{\2}", _TIMES.sub("*", text))
    text = re.sub(r"\s+", " ", _separated(_UNIT_FRACTION.sub(_unit_quotient, text))).strip()
    return _without_aside(text)


def _unit_quotient(match: re.Match[str]) -> str:
    return f"\\text{{{match[1]}/{match[2]}}}{match[3] or ''}"


def _without_aside(text: str) -> str:
    """``1/2 (or 0.5)`` as two forms of one answer, ``\\pi (approximately 3.14)`` as the first alone."""
    rounded = _ROUNDED.fullmatch(text)
    if rounded:
        return rounded[1]
    aside = _ASIDE.fullmatch(text)
    return f"{aside[1]} or {aside[2]}" if aside else text


def _separated(text: str) -> str:
    """Without separators of thousands."""
    text = _DOTTED_THOUSANDS.sub(_join_digits, _QUOTED_THOUSANDS.sub(_join_digits, text))
    text = _MATLAB.sub(_rows, _HOURS.sub(r"\1 hours \2 minutes", text))
    text = _DECIMAL_COMMA.sub(lambda m: m[1].replace(" ", "") + "." + m[2], text)
    text = _ROUND_THOUSANDS.sub(lambda m: m[1].replace(",", ""), text)
    text = _PLAIN_THOUSANDS.sub(lambda m: m[1] + m[2].replace(",", ""), text)
    return _SPACED_THOUSANDS.sub(lambda m: m[1] + m[2].replace(" ", ""), text)


def _line_breaks(text: str) -> str:
    """``\\\\`` as ``\\newline``; outside of environments a doubled backslash before a command is a doubled escape."""
    if "\\begin" not in text:
        text = re.sub(r"\\\\(?=[A-Za-z%$({])", r"\\", text)
    text = re.sub(r"\\cr(?![A-Za-z])", r"\\newline ", text)
    return re.sub(r"\\\\(?:\[\d*\.?\d*(?:pt|ex|em|mm)\])?", r"\\newline ", text)


def _delimiters(text: str) -> str:
    """Without ``$..$``, ``\\(..\\)``, ``\\[..\\]`` and the sentence's last full stop; a lone ``$`` before digits is a currency sign."""
    text = re.sub(r"\\[()]|\\[\[\]](?!\d*(?:pt|ex|em))", " ", text).replace("$$", "$").strip(' `"\n\t')
    text = re.sub(r"(?:\bUS ?)?\\\$", r"\\dollar ", text)
    if text.count("$") == 1:
        text = re.sub(r"(?:\bUS ?)?\$", r" \\dollar ", text)
    text = text.replace("$", " ").strip()
    if (paired := _PAIRED_MARKS.fullmatch(text)) and paired[1] not in paired[2]:
        text = paired[2].strip()
    while text.endswith((".", ",", ";", ":", "\\newline")) and not text.endswith(("\\ldots.", "...")):
        text = (text.removesuffix("\\newline") if text.endswith("newline") else text[:-1]).rstrip(" \\")
    return text.replace("...", "\\ldots ")
