"""Judgements on disk: a cache in front of a judge, and a judge that replays what was stored."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from ttrlab.files import dumps, read_jsonl
from ttrlab.pools import PoolRow
from ttrlab.rectifier.judge import Judge, JudgedItem, JudgeItem, content_key, item_key
from ttrlab.rectifier.judgement import UNRESOLVED

JUDGEMENTS = "judgements.jsonl"
"""Name of a judge's cache in the folder of an adaptation."""

Stored = TypeVar("Stored")


@dataclass
class CachedJudge:
    """Asks ``inner`` for an item once, and remembers the judgement in the append-only file ``path``, keyed by content and identity.

    A judgement is on disk before anything is decided by it, so a step that is redone is decided as before, even if the engine would now
    answer differently. One process writes a file at a time. A line torn by a kill is cut off when the file is opened.
    """

    inner: Judge
    path: Path
    _known: dict[str, JudgedItem] = field(init=False, repr=False)
    _fits: dict[str, bool] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_line(self.path)
        self._known = read_judgements(self.path)

    @property
    def identity(self) -> str:
        """That of the judge behind."""
        return self.inner.identity

    def fits(self, item: JudgeItem) -> bool:
        """See ``Judge``; asked once an item."""
        key = item_key(self.identity, item)
        if key not in self._fits:
            self._fits[key] = self.inner.fits(item)
        return self._fits[key]

    def judge(self, items: Sequence[JudgeItem]) -> list[JudgedItem]:
        """See ``Judge``; items that are new go to the judge behind in one batch, equal ones once."""
        keys = [item_key(self.identity, item) for item in items]
        new = {key: item for key, item in zip(keys, items, strict=True) if key not in self._known}
        if new:
            answers = dict(zip(new, self.inner.judge(list(new.values())), strict=True))
            _append(self.path, new, answers)
            self._known |= answers
        return [self._known[key] for key in keys]


@dataclass(frozen=True)
class StoredJudge:
    """Replays judgements: ``judgements`` and ``eligible`` by content key. An item that is not there is an error, never an abstention."""

    identity: str
    judgements: Mapping[str, JudgedItem]
    eligible: Mapping[str, bool]

    def fits(self, item: JudgeItem) -> bool:
        """See ``Judge``; KeyError names an item whose eligibility was not stored. A stored judgement implies that it did fit."""
        key = item_key(self.identity, item)
        return key in self.judgements or _stored(self.eligible, key, item, "eligibility")

    def judge(self, items: Sequence[JudgeItem]) -> list[JudgedItem]:
        """See ``Judge``; KeyError names an item that was never judged."""
        return [_stored(self.judgements, item_key(self.identity, item), item, "judgement") for item in items]

    @classmethod
    def from_pool(cls, identity: str, rows: Iterable[PoolRow], questions: Mapping[str, str]) -> "StoredJudge":
        """What ``judge_score`` and ``judge_fits`` of stored roll-outs say. ``questions``: question id -> text. Reasons and token counts are
        not in a pool: they are empty and 0."""
        judgements: dict[str, JudgedItem] = {}
        eligible: dict[str, bool] = {}
        for row, item, score, fits in _pool_items(rows, questions):
            key = item_key(identity, item)
            judged = None if np.isnan(score) else JudgedItem(int(score), "", 0, "stored unresolved" if score == UNRESOLVED else None)
            if judged is not None and judgements.setdefault(key, judged) != judged:
                raise ValueError(f"question {row.question_id!r}, step {row.step}: the same roll-out has two different stored judgements")
            eligible[key] = fits or eligible.get(key, False)  # of two equal texts one may be truncated, which alone makes it ineligible
        return cls(identity, judgements, eligible)


def read_judgements(path: Path) -> dict[str, JudgedItem]:
    """Content key -> judgement of every line of a cache file; ValueError names the file and line of a broken one."""
    return {
        row["key"]: JudgedItem(score=row["score"], reason=row["reason"], tokens=row["tokens"], fault=row["fault"])
        for row in (read_jsonl(path) if path.exists() else ())
    }


def judgements_by_content(path: Path) -> dict[str, JudgedItem]:
    """``content_key`` -> judgement, whoever gave it; empty without the file. Lines without a content are left out."""
    rows = read_jsonl(path) if path.exists() else ()
    return {
        row["content"]: JudgedItem(score=row["score"], reason=row["reason"], tokens=row["tokens"], fault=row["fault"])
        for row in rows
        if "content" in row
    }


def _append(path: Path, items: Mapping[str, JudgeItem], answers: Mapping[str, JudgedItem]) -> None:
    rows = [{"key": key, "content": content_key(items[key]), **asdict(judged)} for key, judged in answers.items()]
    with open(path, "ab") as handle:
        handle.write("".join(dumps(row) + "\n" for row in rows).encode())
        handle.flush()
        os.fsync(handle.fileno())


def _cut_torn_line(path: Path) -> None:
    """Drop what follows the last line end: the kill came before those judgements were used."""
    if not path.exists():
        return
    with open(path, "r+b") as handle:
        whole = handle.read().rpartition(b"\n")
        handle.truncate(len(whole[0]) + len(whole[1]))


def _pool_items(rows: Iterable[PoolRow], questions: Mapping[str, str]) -> Iterator[tuple[PoolRow, JudgeItem, float, bool]]:
    """Every parsed roll-out of a pool with its stored score (NaN: not asked) and eligibility."""
    for row in rows:
        missing = {"judge_score", "judge_fits"} - set(row.signals)
        if missing:
            raise ValueError(
                f"question {row.question_id!r}, step {row.step}: the pool has no {sorted(missing)}: it was made without a judge"
            )
        for i, answer in enumerate(row.answers):
            if answer is not None:
                item = JudgeItem(questions[row.question_id], row.texts[i], answer)
                yield row, item, float(row.signals["judge_score"][i]), bool(row.signals["judge_fits"][i])


def _stored(table: Mapping[str, Stored], key: str, item: JudgeItem, what: str) -> Stored:
    if key not in table:
        raise KeyError(f"no stored {what} for answer {item.answer!r} to {item.question[:80]!r}; {len(table)} are stored")
    return table[key]
