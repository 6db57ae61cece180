"""The price of a study: seconds of every cell and phase as draws, what lies on disk, hours on a number of devices, what it could see."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ttrlab.adapt.schedule import total_steps
from ttrlab.config.study import Cell, Plan
from ttrlab.evaluate.calibration import Calibration, Key, Measurement, finished, spent_by_phase, steps_done
from ttrlab.evaluate.cost import DRAWS, CostModel
from ttrlab.evaluate.workload import Work, cell_work, shared_work
from ttrlab.types import FloatArray

QUANTILES = (0.1, 0.5, 0.9)
CPU_STAGES = ("score", "audit")
"""Stages that hold no accelerator."""
PHASES = ("sample", "decide", "update", "write", "start", "evaluate", "score", "pretrain", "rectifier")
"""Parts of a price: the phases of an adaptation's step, its start (process, loading, what a first step takes longer), the other stages."""
STAGE_PARTS = {"curve": "evaluate", "audit": "score"}


@dataclass(frozen=True)
class Estimate:
    """(DRAWS,) device ``seconds`` of one phase of one job; ``cell`` None for work that cells share. ``held``: devices of the job."""

    cell: Cell | None
    stage: str
    phase: str
    model: str
    seconds: FloatArray
    held: int

    @property
    def part(self) -> str:
        """Its part of a price, one of ``PHASES``."""
        return part_of(self.stage, self.phase)

    @property
    def on_cpu(self) -> bool:
        """True for work that holds no accelerator."""
        return self.stage in CPU_STAGES


def part_of(stage: str, phase: str) -> str:
    """The part of a price, one of ``PHASES``, that a phase of a stage belongs to."""
    if stage == "adapt":
        return phase if phase in PHASES else "start"
    return STAGE_PARTS.get(stage, stage)


def all_work(plan: Plan, model: CostModel) -> list[Work]:
    """Work of the whole study, shared work first."""
    return [*shared_work(plan), *(work for cell in plan.cells for work in cell_work(plan, cell, model.parameters[cell.model]))]


def priors(work: Iterable[Work], model: CostModel) -> list[tuple[Key, Estimate]]:
    """The cost model's estimate of every (cell, stage, phase), uncalibrated."""
    found = []
    for (cell, stage, phase), group in groupby(work, key=lambda one: (one.cell, one.stage, one.phase)):
        parts = list(group)
        main = parts[0]
        seconds = np.sum([model.seconds(part) for part in parts], axis=0)
        key = Key(stage, phase, main.model, main.method, main.benchmark)
        found.append((key, Estimate(cell, stage, phase, main.model, seconds, model.devices(main))))
    return found


def estimates(plan: Plan, model: CostModel, calibration: Calibration) -> list[Estimate]:
    """Every phase of every job, corrected by what is measured."""
    work = all_work(plan, model)
    decline = model.number("active_decline", work[0])
    return [
        Estimate(one.cell, one.stage, one.phase, one.model, calibration.draws(key, one.seconds, decline), one.held)
        for key, one in priors(work, model)
    ]


def measurements(plan: Plan, model: CostModel, journals: Mapping[tuple[str, str], Sequence[Mapping[str, object]]]) -> list[Measurement]:
    """What ``journals`` of a study measured against the cost model. Keys: (cell path, or model of a pre-training; stage).

    An adaptation may be unfinished: the share of its steps that is done is compared with the same share of the prediction.
    """
    found = []
    predicted: dict[tuple[str, str], list[tuple[Key, Estimate]]] = {}
    for key, estimate in priors(all_work(plan, model), model):
        predicted.setdefault((estimate.cell.path if estimate.cell else estimate.model, estimate.stage), []).append((key, estimate))
    for name, rows in journals.items():
        stage = name[1]
        if name not in predicted or (stage != "adapt" and not finished(rows)):
            continue
        spent = spent_by_phase(rows)
        for key, estimate in predicted[name]:
            portion = _portion(plan, estimate, rows) if stage == "adapt" else 1.0
            expected = float(np.median(estimate.seconds)) * (portion if key.phase in ("sample", "decide", "update", "write") else 1.0)
            if spent.get(key.phase, 0.0) > 0 and expected > 0:
                found.append(Measurement(key, spent[key.phase] / expected, portion))
    return found


def _portion(plan: Plan, estimate: Estimate, rows: Sequence[Mapping[str, object]]) -> float:
    assert estimate.cell is not None
    return steps_done(rows) / total_steps(plan.benchmark(estimate.cell).rows, plan.training(estimate.cell))


def total(found: Iterable[Estimate]) -> FloatArray:
    """(DRAWS,) seconds of all of them together."""
    return np.sum([one.seconds for one in found] or [np.zeros(DRAWS)], axis=0)


def quantiles(seconds: FloatArray) -> tuple[float, float, float]:
    """P10, P50 and P90."""
    low, middle, high = np.quantile(seconds, QUANTILES)
    return float(low), float(middle), float(high)


def makespan(found: Sequence[Estimate], devices: int) -> tuple[float, float, float]:
    """P10, P50, P90 of the seconds from first to last job on ``devices`` that are always free; waiting in a queue is not in it.

    Longest chains first (pre-training, adaptation, evaluation); the other quantiles scale as the sum does. ValueError when a job holds more
    devices than there are.
    """
    shared = float(np.median(total(one for one in found if one.cell is None)))
    chains: dict[str, dict[str, float]] = {}
    width: dict[str, int] = {}
    for one in found:
        if one.cell is not None and not one.on_cpu:
            if one.held > devices:
                raise ValueError(f"cell {one.cell.path}: its {one.stage} job holds {one.held} devices, {devices} given")
            stages = chains.setdefault(one.cell.path, {})
            stages[one.stage] = stages.get(one.stage, 0.0) + float(np.median(one.seconds)) / one.held
            width[one.cell.path] = max(width.get(one.cell.path, 1), one.held)
    jobs = sorted(((sum(stages.values()), width[path]) for path, stages in chains.items()), reverse=True)
    end = shared + _packed(jobs, devices)
    low, middle, high = quantiles(total(one for one in found if not one.on_cpu))
    return end * low / middle, end, end * high / middle


def _packed(jobs: Sequence[tuple[float, int]], devices: int) -> float:
    """End of the last of ``jobs`` (seconds, devices), started in their order as devices become free."""
    free, now, running = devices, 0.0, []  # type: int, float, list[tuple[float, int]]
    for seconds, held in jobs:
        while free < held:
            now, back = heapq.heappop(running)
            free += back
        heapq.heappush(running, (now + seconds, held))
        free -= held
    return max((end for end, _ in running), default=0.0)
