"""Draw the figures of the evidence from finished tables: each that has something to show, none that would be empty."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from ttrlab.config.specs import AggregateSpec
from ttrlab.config.study import Cell, Plan
from ttrlab.files import atomic_folder, read_json
from ttrlab.report import figures, offline_figures, reward_figures, run_figures
from ttrlab.report.tables import read_all
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.plan import load_frozen


def adaptation_hours(cost: Mapping[str, dict]) -> tuple[float, str]:
    """Hours of one adaptation by all its attempts, discarded work included: of its accelerators, or of CPU where it held none."""
    devices = len(cost["devices"])
    kind = "wall" if devices else "cpu"
    seconds = sum(phase[end] for phase in cost["phases"].values() for end in (kind, f"discarded_{kind}"))
    return seconds * max(devices, 1) / 3600, "accelerator-hours" if devices else "CPU-hours"


def costs(plan: Plan, cells: Path) -> pd.DataFrame:
    """Hours of an adaptation by (model, benchmark, method), mean over the seeds whose cost was recorded; one unit for the study."""
    rows = []
    for cell in plan.cells:
        path = cells / cell.path / "adapt" / "cost.json"
        if path.exists():
            rows.append([cell.model, cell.benchmark, cell.method, *adaptation_hours(read_json(path))])
    table = pd.DataFrame(rows, columns=["model", "benchmark", "method", "hours", "unit"])
    same = table[table["unit"] == table["unit"].iloc[0]] if len(table) else table
    return same.groupby(["model", "benchmark", "method", "unit"], sort=False)["hours"].mean().reset_index()


def offline_tables(plan: Plan, cells: Path, name: str) -> pd.DataFrame:
    """``name`` of every base cell of the first seed."""
    first: list[Cell] = [cell for cell in plan.cells if cell.seed == plan.study.seeds[0] and plan.method(cell).reward is None]
    return read_all(cells / cell.path / "offline" / f"{name}.csv" for cell in first)


def drawn(plan: Plan, results: Path, metric: str) -> Mapping[str, Callable[[], Figure | None]]:
    """Name -> how the figure is drawn."""
    methods, cells = plan.study.methods, results / "cells"
    questions = offline_tables(plan, cells, "questions")
    scores, contrasts, efficiency, steps, audit = (
        read_all([results / f"{name}.csv"]) for name in ("questions", "contrasts", "efficiency", "steps", "audit")
    )
    scored = scores[scores["metric"] == metric]
    return {
        "sample_efficiency": lambda: run_figures.sample_efficiency(efficiency, methods),
        "recovery_region": lambda: offline_figures.recovery_region(questions),
        "operating_regimes": lambda: offline_figures.operating_regimes(questions, scored, methods),
        "label_accuracy": lambda: offline_figures.label_accuracy(offline_tables(plan, cells, "votes"), methods),
        "chosen_sizes": lambda: run_figures.chosen_sizes(steps),
        "transitions": lambda: run_figures.transitions(scored, metric, methods),
        "reward_errors": lambda: reward_figures.reward_errors(audit, methods),
        "decision_flow": lambda: reward_figures.decision_flow(steps),
        "cost_gain": lambda: run_figures.cost_gain(costs(plan, cells), contrasts, metric, methods),
    }


def main() -> None:
    """Write the folder ``--out`` from the study in ``--results``."""
    arguments = parse(__doc__, "plan", "results", "out")
    spec = read_spec(AggregateSpec, arguments.spec)
    with atomic_folder(Path(arguments.out)) as folder:
        for name, draw in drawn(load_frozen(Path(arguments.plan)), Path(arguments.results), spec.metrics[0]).items():
            figure = draw()
            if figure is not None:
                figures.save(figure, folder / name)


if __name__ == "__main__":
    run(main)
