"""Data as scripts: a page opened from disk may not fetch a file, but it may load a script.

A chunk is ``TTRLAB.receive("name", <JSON>);``. Model text inside is data: the JSON is pure ASCII with ``<``, ``>`` and ``&`` escaped, so
that no text can end the script, and the page puts it into the document as text only. Long texts are packed: gzip in base64, a JSON string.
"""

import base64
import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

DIGITS = 5
"""Significant digits of numbers on the page."""

_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def plain(value: Any) -> Any:
    """``value`` as JSON has it: NaN and infinities become null, floats are rounded to ``DIGITS``, arrays and tuples become lists.

    Keys must be words of ours: a key ``__proto__`` would not be data in a script, so it is refused.
    """
    if isinstance(value, dict):
        if "__proto__" in value:
            raise ValueError("'__proto__' cannot be a key of a page's data")
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(entry) for entry in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _rounded(float(value))
    return value


def _rounded(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def script(name: str, value: Any) -> str:
    """The chunk ``name``: one line of JavaScript, the same for the same value."""
    data = json.dumps(plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return f"TTRLAB.receive({json.dumps(name)},{data.translate(_ESCAPES)});\n"


def packed_texts(texts: list[list[str]]) -> str:
    """Lists of texts as one short string, which the page unpacks; the same for the same texts."""
    return base64.b64encode(gzip.compress(json.dumps(texts).encode("ascii"), compresslevel=6, mtime=0)).decode("ascii")


def write_chunk(folder: Path, name: str, value: Any) -> None:
    """Write the chunk as ``folder``/data/``name``.js; the folder as a whole is made atomic by its writer."""
    path = folder / "data" / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script(name, value), encoding="ascii", newline="\n")
