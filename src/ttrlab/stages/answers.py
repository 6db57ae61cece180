"""The questions about answers at the command line: are two equal and why, what does each response of a file answer."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ttrlab import files
from ttrlab.grading import explain, extract


def equal_command(a: str, b: str) -> str:
    """The verdict on two answers, then the reason, one line."""
    verdict, reason = explain(a, b)
    return f"{verdict.value.upper()}: {reason}"


def extract_command(path: Path) -> str:
    """One line per response of a JSON-lines file (its ``text`` or ``response``) or of a whole text file, then the count.

    ValueError names the file that is not UTF-8, or the row without a response.
    """
    lines = []
    found: Counter[bool] = Counter()
    for number, text in enumerate(_responses(Path(path)), start=1):
        boxed, phrase = extract(text), extract(text, fallback="phrase")
        found[boxed is not None] += 1
        answer = boxed if boxed is not None else phrase
        source = "box" if boxed is not None else "phrase" if phrase is not None else "no box and no phrase"
        lines.append(f"{number}\t{answer or '-'}\t{source}")
    return "\n".join([*lines, f"{found[True]} of {found.total()} responses have a boxed answer"])


def _responses(path: Path) -> Iterator[str]:
    if ".jsonl" not in path.suffixes:
        try:
            yield path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not UTF-8 ({error})") from None
        return
    for number, row in enumerate(files.read_jsonl(path), start=1):
        text = row.get("text", row.get("response")) if isinstance(row, dict) else row
        if not isinstance(text, str):
            raise ValueError(f"{path}: row {number} has no response, expected a string or an object with 'text' or 'response'")
        yield text
