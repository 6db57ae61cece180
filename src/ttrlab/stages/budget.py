"""What an adaptation has spent, read from its folder: the yardstick of budget-matched controls (TRUER, appendix F).

A folder is read alike while its run goes on and after it has ended, so a run that was killed stops where an undisturbed one does.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ttrlab.adapt.loop import Step
from ttrlab.config.continuation import Continuing, Unit
from ttrlab.files import read_json, read_jsonl, write_json
from ttrlab.meter import JOURNAL, summary
from ttrlab.rectifier.stored import JUDGEMENTS, read_judgements

BUDGET = "budget.json"
"""What a continuation was to spend and what it spent, in its folder."""
TRAINING_PHASES = ("sample", "decide", "update")
"""Phases of a step that the paper's GPU-hours count; loading, writing and evaluation are not among them."""


def active_groups(folder: Path) -> float:
    """Groups with an advantage other than 0, over all steps."""
    return sum(round(record["active_share"] * record["questions"]) for record in _records(folder))


def tokens(folder: Path) -> float:
    """Sampled tokens of all roll-outs and of all judgements; a judgement that was asked for again is counted once."""
    judged = read_judgements(folder / JUDGEMENTS)
    return sum(record["tokens"] for record in _records(folder)) + sum(item.tokens for item in judged.values())


def seconds(folder: Path) -> float:
    """Wall-clock seconds of sampling, deciding (judgements included) and updating, times the accelerators of the job (1 on a CPU).

    Work that was lost to a kill and done again is counted once. A judge's server has its own clock and is not in it.
    """
    spent = summary(read_jsonl(folder / JOURNAL))
    devices = max(1, len(spent["devices"]))
    return devices * sum(spent["phases"][phase]["wall"] for phase in TRAINING_PHASES if phase in spent["phases"])


SPENT: Mapping[Unit, Callable[[Path], float]] = {"tokens": tokens, "seconds": seconds, "active_groups": active_groups}


def _records(folder: Path) -> list[dict[str, float]]:
    return [read_json(path) for path in sorted((folder / "steps").glob("step*.json"))]


@dataclass(frozen=True, slots=True)
class Budget:
    """A continuation in ``folder`` of a run that had spent ``before``, until ``target`` is spent in all, in units of ``until``."""

    until: Unit
    target: float
    before: float
    folder: Path

    @classmethod
    def of(cls, continues: Continuing, start: Path, other: Path, folder: Path) -> "Budget":
        """The budget of a run that goes on from that in ``start`` to the cost of that in ``other``; both have ended."""
        spent = SPENT[continues.until]
        return cls(continues.until, spent(other), spent(start), folder)

    @property
    def spent(self) -> float:
        """Units spent since the first step of the continued run."""
        return self.before + SPENT[self.until](self.folder)

    @property
    def met(self) -> bool:
        """Whether the target is reached."""
        return self.spent >= self.target

    def limit(self, steps: Iterator[Step], begun: bool) -> Iterator[Step]:
        """The ``steps`` up to the first after which the budget is met: at least one, unless some are done already (``begun``).

        What a step spent is read when the caller asks for the next one, so it must have written the step by then.
        """
        if begun and self.met:
            return
        for step in steps:
            yield step
            if self.met:
                return

    def write(self, path: Path, steps: int) -> None:
        """What was to be spent and what was, with the number of ``steps`` made in all."""
        write_json(
            path, {"until": self.until, "target": self.target, "before": self.before, "spent": self.spent, "met": self.met, "steps": steps}
        )
