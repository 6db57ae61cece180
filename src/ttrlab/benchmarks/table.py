"""From raw rows to checked items: columns by name, texts and answers present, no question twice, choices in a seeded order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ttrlab.benchmarks.sources import Row
from ttrlab.benchmarks.text import normalised
from ttrlab.config.catalogue import AnswerKind, Columns
from ttrlab.seeds import rng
from ttrlab.types import Question

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
INTEGER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.0*)?")
"""An integer as benchmark files write it: padded, with separators, or as a float ("033", "1,024", "142.0")."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question with its answer. ``place`` says where it stands in its source."""

    id: str
    prompt: str
    answer: str
    tags: dict[str, str | int]
    place: str

    @property
    def question(self) -> Question:
        """The unlabelled question."""
        return Question(self.id, self.prompt)


def to_item(row: Row, columns: Columns, kind: AnswerKind, source: str, seed: int) -> Item:
    """The item of one row; ValueError names its place and column, never the text (some items must not be published).

    A row without an id column is called ``source``/number, so the same row has the same id in every part of a split.
    """
    question_id = f"{source}/{row.number}" if columns.id is None else _text(row, columns.id)
    if not question_id.isprintable():
        raise ValueError(f"{row.place}, column {columns.id!r}: an id of printable characters on one line is expected, got {question_id!r}")
    prompt, answer = _text(row, columns.question), _text(row, columns.answer)
    if columns.options:
        wrong = [_text(row, column) for column in columns.options]
        if answer in wrong:
            raise ValueError(f"{row.place}, column {columns.options[wrong.index(answer)]!r}: the same text as the right answer")
        prompt, answer = with_options(prompt, answer, wrong, seed, question_id)
    elif kind == "choice" and (len(answer) != 1 or answer not in LETTERS):
        raise ValueError(f"{row.place}, column {columns.answer!r}: expected one capital letter, or the wrong options' columns as `options`")
    elif kind == "integer" and not INTEGER.fullmatch(answer):
        raise ValueError(f"{row.place}, column {columns.answer!r}: kind is integer, but the answer is none; say kind: math")
    tags = {tag: _tag(row, column) for tag, column in (("level", columns.level), ("subject", columns.subject)) if column is not None}
    return Item(question_id, prompt, answer, tags, row.place)


def with_options(question: str, right: str, wrong: Sequence[str], seed: int, question_id: str) -> tuple[str, str]:
    """The question with lettered options below it, and the letter of the right one.

    The order is a seeded shuffle of the sorted options, so that the text does not depend on which option is right.
    """
    options = sorted([right, *wrong])
    order = [options[i] for i in rng(seed, "options", question_id).permutation(len(options))]
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, order, strict=False))
    return f"{question}\n\n{listed}", LETTERS[order.index(right)]


def check_columns(rows: Sequence[Row], names: Sequence[str]) -> None:
    """ValueError names the first row that lacks one of the columns ``names``, and the columns that it has."""
    for row in rows:
        for name in names:
            if name not in row.values:
                raise ValueError(f"{row.place}: no column {name!r}; the columns are {', '.join(map(repr, row.values))}")


def unique(items: Sequence[Item], duplicates: Literal["refuse", "first"]) -> list[Item]:
    """The items with each normalised text once. ValueError names the places of two items with one id and, unless only the
    ``first`` is to be kept, with one text."""
    ids: dict[str, str] = {}
    texts: dict[str, str] = {}
    kept: list[Item] = []
    for item in items:
        if item.id in ids:
            raise ValueError(f"{item.place}: the id {item.id!r} stands already in {ids[item.id]}")
        ids[item.id] = item.place
        text = normalised(item.prompt)
        if text not in texts:
            texts[text] = item.place
            kept.append(item)
        elif duplicates == "refuse":
            raise ValueError(f"{item.place}: the question {item.id!r} has the same text as {texts[text]}")
    return kept


def _text(row: Row, column: str) -> str:
    """A text or number as text, without blanks around it. Booleans, lists and missing values are refused."""
    value = row.values[column]
    if value is None or value != value:
        raise ValueError(f"{row.place}, column {column!r}: missing")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{row.place}, column {column!r}: expected a text or a number, got {type(value).__name__}")
    text = str(value).strip()
    if not text:
        raise ValueError(f"{row.place}, column {column!r}: empty")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"{row.place}, column {column!r}: half of a surrogate pair, which is no character")
    return text


def _tag(row: Row, column: str) -> str | int:
    value: Any = row.values[column]
    return value if isinstance(value, int) and not isinstance(value, bool) else _text(row, column)
