"""The first reading of a pool: what is in it, what is left out and why, and which methods it cannot serve."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ttrlab.config.catalogue import AnswerKind
from ttrlab.pools import PoolRow
from ttrlab.replay.groups import is_stored, is_usable, pool_needs
from ttrlab.replay.importers import detect, read_pool_file
from ttrlab.replay.prompts import by_content, by_hash
from ttrlab.replay.rows import Fault, Located, pool_files
from ttrlab.replay.spec import JUDGED, ReplaySpec
from ttrlab.rewards import Rule
from ttrlab.signals import SIGNALS, SUPPLIED
from ttrlab.types import Question


@dataclass(frozen=True)
class Pool:
    """Files of roll-outs in one format. ``questions``: where given, rows of other questions are faults."""

    files: Sequence[Path]
    format: str
    kind: AnswerKind
    questions: Sequence[Question] = ()

    @cached_property
    def prompts(self) -> Mapping[str, str]:
        """Question id -> text."""
        return {question.id: question.prompt for question in self.questions}

    def items(self) -> Iterator[Located | Fault]:
        """Every group and fault, file after file."""
        identify = by_content(self.questions) if self.questions else by_hash
        for path in self.files:
            for item in read_pool_file(path, self.format, self.kind, identify):
                unknown = isinstance(item, Located) and bool(self.questions) and item.row.question_id not in self.prompts
                yield item.fault("no such question in the questions file") if isinstance(item, Located) and unknown else item

    def rows(self, needs: Collection[str]) -> Iterator[PoolRow]:
        """The groups that can be replayed: whole, and with every signal in ``needs``."""
        for item in self.items():
            if isinstance(item, Located) and all(is_usable(item.row, name) for name in needs):
                yield item.row


def open_pool(path: Path, kind: AnswerKind, questions: Sequence[Question] = (), format_name: str | None = None) -> Pool:
    """The pool at ``path``; its format by name, or by its first line's keys."""
    files = pool_files(path)
    return Pool(files, format_name or detect(files), kind, questions)


@dataclass
class Survey:
    """Counts of one reading. ``judged``: rows with judgements of every eligible roll-out; ``unjudged``: the first row without."""

    groups: int = 0
    rollouts: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    steps: tuple[int, int] | None = None
    unparsed: int = 0
    truncated: int = 0
    faults: list[Fault] = field(default_factory=list)
    judged: int = 0
    unjudged: str = "the pool has no judgements"

    def add(self, item: Located) -> None:
        """Count a group."""
        row = item.row
        self.groups += 1
        self.rollouts += len(row.texts)
        self.sizes[len(row.texts)] += 1
        first, last = self.steps or (row.step, row.step)
        self.steps = min(first, row.step), max(last, row.step)
        self.unparsed += sum(answer is None for answer in row.answers)
        self.truncated += sum(row.truncated)
        missing = _unjudged(row)
        if missing is None:
            self.judged += 1
        elif self.judged == self.groups - 1:
            self.unjudged = str(item.fault(missing))

    @property
    def fully_judged(self) -> bool:
        """True when every group can serve deployment selection."""
        return self.groups > 0 and self.judged == self.groups


def survey(pool: Pool, spec: ReplaySpec, gold: bool) -> Survey:
    """Read the whole pool once. ValueError names every method that it cannot serve and says what it lacks, before anything is decided.

    A signal that some rows have is had by the pool; rows without it are faults. ``gold``: there is a gold file.
    """
    counted, held = Survey(), Counter[str]()
    needs = {need for method in spec.methods.values() for need in pool_needs(method.rule)}
    lacking: list[tuple[Located, list[str]]] = []
    for item in pool.items():
        if isinstance(item, Fault):
            counted.faults.append(item)
            continue
        held.update(name for name in item.row.signals if is_usable(item.row, name))
        missing = sorted(name for name in needs if not is_usable(item.row, name))
        if missing:
            lacking.append((Located(item.path, item.line, _bare(item.row)), missing))
        else:
            counted.add(item)
    refused = [f"  {name}: {why}" for name, method in spec.methods.items() if (why := _lacks(method.rule, held, gold))]
    if refused:
        raise ValueError("the pool cannot serve these methods (leave them out by --methods):\n" + "\n".join(refused))
    counted.faults += [item.fault(f"no {', '.join(missing)}, which the replayed methods need") for item, missing in lacking]
    if counted.groups == 0:
        first = f"; the first fault is {counted.faults[0]}" if counted.faults else ""
        raise ValueError(f"{pool.files[0]}: nothing to replay in {len(pool.files)} files, {len(counted.faults)} faults{first}")
    return counted


def _lacks(rule: Rule, held: Mapping[str, int], gold: bool) -> str | None:
    """Why a pool cannot serve a rule; None when it can."""
    missing = [name for name in pool_needs(rule) if name not in held]
    if missing:
        return f"rule {rule.rule!r} needs {', '.join(missing)}; the pool has {', '.join(sorted(held)) or 'no signals'}"
    foreign = [name for name in rule.needs if not is_stored(name) and name not in SUPPLIED and name.partition(":")[0] not in SIGNALS]
    if foreign:
        return f"rule {rule.rule!r} needs {', '.join(foreign)}, which no pool holds and nothing here computes"
    return f"rule {rule.rule!r} needs --gold" if rule.needs_gold and not gold else None


def _unjudged(row: PoolRow) -> str | None:
    """What a row lacks for deployment selection; None for nothing."""
    if not all(name in row.signals for name in JUDGED):
        return "no judgements"
    open_ones = np.flatnonzero((row.signals["judge_fits"] != 0) & np.isnan(row.signals["judge_score"]))
    return f"roll-out {open_ones[0]} is eligible but was not judged" if open_ones.size else None


def _bare(row: PoolRow) -> PoolRow:
    """A row that remembers its question and step alone."""
    return PoolRow(row.question_id, row.step, row.seed, ("",), (None,), (False,), (0,))
