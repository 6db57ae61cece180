"""A stored row as the group that a rule decided on, and rows as the batches that a batch-scope rule saw."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

import numpy as np
from numpy.typing import NDArray

from ttrlab import grading, signals
from ttrlab.adapt.decide import Grade
from ttrlab.pools import PoolRow
from ttrlab.replay.spec import JUDGED
from ttrlab.rewards import Rule
from ttrlab.signals import SIGNALS, SUPPLIED
from ttrlab.types import Question, Rollout, RolloutGroup


def group_from_pool(row: PoolRow, question: Question, needs: Iterable[str], grade: Grade | None = None) -> RolloutGroup:
    """The group of a stored row with the signals in ``needs``: stored ones as they are, pairwise ones from the texts.

    ``judge_score`` and ``judge_fits`` are left to ``decide``, as in the loop. ``correct`` comes from ``grade``. ValueError names the
    question and what the row lacks.
    """
    rollouts = tuple(
        Rollout(text, answer=answer, truncated=cut) for text, answer, cut in zip(row.texts, row.answers, row.truncated, strict=True)
    )
    found: dict[str, NDArray[np.generic]] = {}
    for name in needs:
        if name == "correct":
            if grade is None:
                raise ValueError(f"question {row.question_id!r}: the rule asks for gold, and this replay has none")
            found[name] = grade(row.question_id, row.answers)
        elif is_stored(name):
            if name not in row.signals:
                raise ValueError(f"question {row.question_id!r}, step {row.step}: no signal {name!r}; the row has {sorted(row.signals)}")
            found[name] = row.signals[name]
        elif name not in SUPPLIED:
            found |= signals.compute([name], rollouts)
    return RolloutGroup(question, rollouts, grading.classes(row.answers), found, row.seed)


def is_stored(name: str) -> bool:
    """True for a signal that replay takes from the pool: per roll-out, and not supplied by a judge or by gold."""
    plain = name.partition(":")[0]
    return plain in SIGNALS and not SIGNALS[plain].pairwise


def pool_needs(rule: Rule) -> tuple[str, ...]:
    """What a pool must hold for a rule: its stored signals, and judgements where it asks for any."""
    return tuple(name for name in rule.needs if is_stored(name) or name in JUDGED)


def is_usable(row: PoolRow, name: str) -> bool:
    """True when the row has the signal with a number for every roll-out. In ``judge_score``, NaN means not asked."""
    return name in row.signals and (name == "judge_score" or bool(np.isfinite(row.signals[name]).all()))


def batches(rows: Iterable[PoolRow], batch: int, cut: bool = False) -> Iterator[list[PoolRow]]:
    """Rows as a rule sees them at once: those of one step (step 0, or ``cut``: ``batch`` at a time), in their order."""
    for step, run in groupby(rows, key=lambda row: row.step):
        if step and not cut:
            yield list(run)
            continue
        while piece := list(islice(run, batch)):
            yield piece
