"""Calibration: how long measured work took against the cost model's prediction, and what that says about work that is not measured."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, stdev
from typing import Any

import numpy as np

from ttrlab.evaluate.cost import DRAWS
from ttrlab.seeds import rng
from ttrlab.types import FloatArray

STEPPED = ("sample", "decide", "update", "write")
"""Phases of an adaptation's step; what its first step takes beyond the others is the phase ``first``."""
MAIN = {"adapt": "decide", "evaluate": "sample", "curve": "sample", "score": "grade", "audit": "audit", "pretrain": "train"}
"""The phase of each stage that its helpers' seconds count to."""
FALLBACKS = {"curve": ("evaluate", "adapt"), "evaluate": ("curve", "adapt"), "audit": ("score",), "score": ("audit",)}
"""Stages that stand in for one that is not measured, in this order."""
WIDTHS = (0.05, 0.08, 0.15, 0.35)
"""Log standard deviation of a prediction from the same (model, benchmark, method), (model, method), model, and from any model."""
STAND_IN = 0.35
"""The same where another stage stands in."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a ratio was measured on, or is asked for."""

    stage: str
    phase: str
    model: str
    method: str
    benchmark: str

    def levels(self, stage: str) -> tuple[tuple[str, ...], ...]:
        """From the most to the least specific, for its own stage or one that stands in."""
        head = (stage, self.phase)
        return ((*head, self.model, self.method, self.benchmark), (*head, self.model, self.method), (*head, self.model), head)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Seconds of one phase of one job, as a ratio to the model's prediction for the same work. ``portion``: done share of the job."""

    key: Key
    ratio: float
    portion: float


def spent_by_phase(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """A journal's useful seconds by phase: CPU seconds, or wall-clock seconds times devices where there are any.

    Work that was done again is left out; the excess of an adaptation's first step over the later ones is the phase ``first``.
    """
    found = list(rows)
    stage = found[0]["stage"]
    devices = max((len(row["devices"]) for row in found if row.get("event") == "devices"), default=0)
    last = {(row["phase"], row["step"]): row["wall"] * devices if devices else row["cpu"] for row in found if "phase" in row}
    spent = dict.fromkeys([_home(stage, phase) for phase, _ in last], 0.0)
    for (phase, _), seconds in last.items():
        spent[_home(stage, phase)] += seconds
    first = {phase: _excess({step: seconds for (name, step), seconds in last.items() if name == phase}) for phase in STEPPED}
    if stage != "adapt" or not any(first.values()):
        return spent
    return {phase: seconds - first.get(phase, 0.0) for phase, seconds in spent.items()} | {"first": sum(first.values())}


def _home(stage: str, phase: str) -> str:
    """The phase of the cost model that a journal's phase counts to."""
    if phase == "import":
        return "start"
    return MAIN[stage] if phase == "workers" or (phase == "write" and stage in ("evaluate", "curve")) else phase


def _excess(steps: Mapping[int, float]) -> float:
    """What the first step took beyond the median of the later ones; 0 with fewer than two later ones."""
    later = [seconds for step, seconds in steps.items() if step > 1]
    return max(0.0, steps[1] - median(later)) if 1 in steps and len(later) >= 2 else 0.0


def steps_done(rows: Iterable[Mapping[str, Any]]) -> int:
    """Steps of an adaptation whose last phase is in the journal."""
    return len({row["step"] for row in rows if row.get("phase") == "update"})


def finished(rows: Iterable[Mapping[str, Any]]) -> bool:
    """True when the journal's last attempt ended well."""
    events = [row for row in rows if row.get("event") in ("begin", "end")]
    return bool(events) and events[-1]["event"] == "end" and events[-1]["error"] is None


class Calibration:
    """Ratios by key; ``draws`` are those of a phase's prior, corrected by the most specific ratio that is known."""

    def __init__(self, measurements: Sequence[Measurement]) -> None:
        self._known: dict[tuple[str, ...], list[Measurement]] = {}
        for one in measurements:
            for level in one.key.levels(one.key.stage):
                self._known.setdefault(level, []).append(one)

    def draws(self, key: Key, prior: FloatArray, decline: FloatArray) -> FloatArray:
        """(DRAWS,) seconds: ``prior`` where nothing is known, else its median times the ratio.

        ``decline``: of the trained share over a run, applied to updates as far as only their beginning is measured.
        """
        for stage in (key.stage, *FALLBACKS.get(key.stage, ())):
            for width, level in zip(WIDTHS, key.levels(stage), strict=True):
                if level in self._known:
                    return self._corrected(key, prior, decline, self._known[level], width if stage == key.stage else max(width, STAND_IN))
        return prior

    def _corrected(self, key: Key, prior: FloatArray, decline: FloatArray, known: Sequence[Measurement], width: float) -> FloatArray:
        logs = [math.log(one.ratio) for one in known]
        spread = math.hypot(width, stdev(logs) if len(logs) > 1 else 0.0)
        z = rng(0, "price", "calibrated", key.stage, key.phase).standard_normal(DRAWS)
        seconds = np.median(prior) * np.exp(median(logs) + spread * z)
        unseen = 1 - median([one.portion for one in known])
        return seconds * np.minimum(decline, 1.0) ** unseen if (key.stage, key.phase) == ("adapt", "update") else seconds
