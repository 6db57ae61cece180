"""``ttrlab status``: which cells are done, running, stuck or failed, why, and how much is left."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import psutil

from ttrlab.config.study import Plan
from ttrlab.evaluate.calibration import Calibration, steps_done
from ttrlab.evaluate.cost import Assumptions, load_assumptions
from ttrlab.evaluate.price import Estimate, estimates, measurements, quantiles
from ttrlab.stages.plan import load_frozen
from ttrlab.stages.price import cost_model, journals_of
from ttrlab.stages.progress import Job, State, jobs_of, span
from ttrlab.stages.recover import processes_in

ORDER: tuple[State, ...] = ("failed", "stuck", "killed", "stopped", "running", "waiting", "done")
"""From what a person must look at to what nobody must: a cell is in the first state that one of its jobs is in."""
SHOWN = 12
"""Cells of one state that are listed."""


def status_command(results: Path, cost: Path) -> str:
    """The status of every study below ``results`` as text."""
    plans = sorted(results.rglob("plan.json"))
    if not plans:
        return f"{results}: no study was started there (no plan.json)"
    assumptions = load_assumptions(cost)
    return "\n\n".join(study_status(path.parent, load_frozen(path), assumptions) for path in plans)


def study_status(results: Path, plan: Plan, assumptions: Assumptions) -> str:
    """The status of one study."""
    jobs = list(jobs_of(plan, results))
    by_place: dict[str, list[Job]] = {}
    for job in jobs:
        by_place.setdefault(job.place, []).append(job)
    states = {place: state_of(own) for place, own in by_place.items()}
    cells = Counter(states[cell.path] for cell in plan.cells)
    counts = ", ".join(f"{cells[state]} {state}" for state in reversed(ORDER) if cells[state])
    running = [job for job in jobs if job.state in ("running", "stuck")]
    lines = [f"{plan.study.study}: {len(plan.cells)} cells: {counts}"]
    if set(states.values()) != {"done"}:
        lines += [f"  {_workflow(Path.cwd(), bool(running))}", f"  {time_left(results, plan, assumptions, jobs, len(running))}"]
    for state in ORDER[:-1]:
        chosen = [place for place, found in states.items() if found == state]
        if chosen:
            lines += ["", f"{state}: {len(chosen)}", *_listed(chosen, by_place, state)]
    return "\n".join(lines)


def state_of(jobs: Sequence[Job]) -> State:
    """The state of a cell: the one of its jobs' states that most needs a look; waiting while anything is left to start."""
    found = {job.state for job in jobs}
    return next(state for state in ORDER if state in found)


def _listed(places: Sequence[str], by_place: Mapping[str, Sequence[Job]], state: State) -> Iterable[str]:
    for place in places[:SHOWN]:
        for job in by_place[place]:
            if job.state == state and state == "waiting":
                done = [other.stage for other in by_place[place] if other.state == "done"]
                yield f"  {place}" + (f"  ({', '.join(done)} done)" if done else "")
                break
            if job.state == state:
                yield f"  {place}  {job.stage}: {job.detail}"
                yield from (f"      | {line[:160]}" for line in job.log)
    if len(places) > SHOWN:
        yield f"  and {len(places) - SHOWN} more"


def _workflow(folder: Path, running: bool) -> str:
    alive = [process for process in processes_in(folder, "snakemake") if not any("ttrlab.stages." in part for part in process.cmdline())]
    if alive:
        oldest = min(alive, key=psutil.Process.create_time)
        return f"a workflow is running in this folder (process {oldest.pid})"
    if running:
        return "no workflow is running in this folder on this machine, but jobs are: a killed run's, or another machine's"
    return "no workflow is running in this folder; `make resume STUDY=...` goes on"


def time_left(results: Path, plan: Plan, assumptions: Assumptions, jobs: Sequence[Job], running: int) -> str:
    """What the price of the unfinished jobs, corrected by the finished ones, says about the time left."""
    gpus = any(row["devices"] for job in jobs for row in job.rows if row.get("event") == "devices")
    try:
        model = cost_model(plan, assumptions, "h100" if gpus else "cpu")
    except ValueError as error:
        return f"time left: not known ({error})"
    found = measurements(plan, model, journals_of(results, plan))
    open_jobs = {(job.place.removeprefix("models/"), job.stage): job for job in jobs if job.state != "done"}
    left = [(_left(one, open_jobs), one) for one in estimates(plan, model, Calibration(found))]
    seconds = np.sum([share * one.seconds / one.held for share, one in left], axis=0)
    stretch = 1.0 if gpus else _stretch(jobs)
    low, middle, high = (span(value * stretch / max(running, 1)) for value in quantiles(seconds))
    basis = f"by {len(found)} measured phases" if found else "by assumptions alone"
    together = f"{running} jobs at a time, as now" if running > 1 else "one job at a time"
    return f"time left: {middle} ({low} to {high}), {together}, {basis}"


def _left(one: Estimate, open_jobs: Mapping[tuple[str, str], Job]) -> float:
    """The share of an estimate that is still to be done."""
    job = open_jobs.get((one.cell.path if one.cell else one.model, one.stage))
    if job is None:
        return 0.0
    if one.stage != "adapt" or one.phase not in ("sample", "decide", "update", "write"):
        return 1.0
    assert job.steps
    return 1 - steps_done(job.rows) / job.steps


def _stretch(jobs: Sequence[Job]) -> float:
    """Wall-clock seconds a CPU second so far; 1 before anything was measured."""
    rows = [row for job in jobs for row in job.rows if "phase" in row]
    wall, cpu = sum(row["wall"] for row in rows), sum(row["cpu"] for row in rows)
    return max(1.0, wall / cpu) if cpu else 1.0
