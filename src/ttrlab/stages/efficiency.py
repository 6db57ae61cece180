"""In how many fewer steps each method reaches the vote's plateau, per model and benchmark, from the questions' curves of all cells."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from ttrlab.config.specs import EvidenceSpec
from ttrlab.config.study import Plan
from ttrlab.evaluate import bootstrap
from ttrlab.evaluate.efficiency import FewerSteps, fewer_steps
from ttrlab.files import write_text
from ttrlab.report.tables import BASE
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.plan import load_frozen

BASELINE = "majority"
COLUMNS = ("model", "benchmark", "method", "baseline", *FewerSteps.__dataclass_fields__, "n", "seeds", "points")


def read_curve(path: Path) -> pd.DataFrame:
    """Questions x steps of one cell."""
    table = pd.read_csv(path, dtype={"question_id": str}).set_index("question_id")
    return table.rename(columns=int)


def stacked(curves: Mapping[int, pd.DataFrame], starts: Mapping[int, pd.DataFrame]) -> dict[int, pd.DataFrame]:
    """Seed -> questions x steps from the model as given (step 0) on."""
    return {seed: pd.concat([starts[seed][[0]], curve.drop(columns=0, errors="ignore")], axis=1) for seed, curve in curves.items()}


def compared(method: Mapping[int, pd.DataFrame], baseline: Mapping[int, pd.DataFrame], benchmark: str, tail: int) -> dict[str, float]:
    """One row's numbers, over the steps and seeds that both arms have; empty where these are too few to have a plateau."""
    seeds = sorted(set(method) & set(baseline))
    steps = sorted(set.intersection(*(set(arm[seed].columns) for arm in (method, baseline) for seed in seeds))) if seeds else []
    if len(steps) <= tail + 1:
        return {}
    ids = method[seeds[0]].index
    ours, theirs = (np.stack([arm[seed].loc[ids, steps].to_numpy(np.float64) for seed in seeds]) for arm in (method, baseline))
    weights, seed_weights = bootstrap.resample_weights(len(ids), name=benchmark), bootstrap.resample_weights(len(seeds), name="seeds")
    found = fewer_steps(np.array(steps, dtype=np.float64), ours, theirs, weights, seed_weights, tail=tail)
    return {**asdict(found), "n": len(ids), "seeds": len(seeds), "points": len(steps)}


def table(plan: Plan, cells: Path, tail: int) -> pd.DataFrame:
    """A row a (model, benchmark, method other than the vote) that has curves; ``low`` of a method that may never arrive is -inf."""
    if not {BASE, BASELINE} <= set(plan.study.methods):
        return pd.DataFrame(columns=list(COLUMNS))
    read: dict[tuple[str, str, str], dict[int, pd.DataFrame]] = {}
    for cell in plan.cells:
        read.setdefault((cell.model, cell.benchmark, cell.method), {})[cell.seed] = read_curve(cells / cell.path / "curves.csv")
    rows = []
    for (model, benchmark, method), curves in read.items():
        if method in (BASE, BASELINE):
            continue
        starts = read[model, benchmark, BASE]
        arms = stacked(curves, starts), stacked(read[model, benchmark, BASELINE], starts)
        numbers = compared(*arms, benchmark, tail)
        if numbers:
            rows.append({"model": model, "benchmark": benchmark, "method": method, "baseline": BASELINE, **numbers})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def main() -> None:
    """Write ``--table`` from the curves in ``--cells``."""
    arguments = parse(__doc__, "plan", "cells", "table")
    spec = read_spec(EvidenceSpec, arguments.spec)
    found = table(load_frozen(Path(arguments.plan)), Path(arguments.cells), spec.evidence.plateau_tail)
    write_text(Path(arguments.table), found.to_csv(index=False))


if __name__ == "__main__":
    run(main)
