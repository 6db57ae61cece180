"""Join a study's budget-matched continuations: what each spent against its target, and the scores on both sides (TRUER, Tables 19, 20)."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from ttrlab.config.specs import AggregateSpec
from ttrlab.config.study import Plan
from ttrlab.files import read_json
from ttrlab.report import tables
from ttrlab.stages.budget import BUDGET
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.plan import load_frozen

CAPTION = (
    "continued runs, all from the endpoint of the method that they continue, with a fresh optimiser and the original reference model: "
    "units spent before, in all and by the run whose budget they are held to; {metric} in % (n questions) before, after and of that run"
)


def table(plan: Plan, cells: Path, summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A row a continuation. ``met``: whether it reached its target, or stopped at its greatest number of steps; ``steps``: in all."""
    chosen = summary[(summary.metric == metric) & (summary.group == "all") & summary.endpoint]
    scores = chosen.set_index(["model", "benchmark", "method", "seed"])
    rows = []
    for cell in plan.cells:
        continues = plan.method(cell).continues
        if continues is None:
            continue
        before, other = (replace(cell, method=name) for name in (continues.method, continues.of))
        values = [scores.value[one.model, one.benchmark, one.method, one.seed] for one in (before, cell, other)]
        rows.append(
            {
                **{"model": cell.model, "benchmark": cell.benchmark, "seed": cell.seed, "method": cell.method},
                **{"continues": continues.method, "of": continues.of},
                **read_json(cells / cell.path / "adapt" / BUDGET),
                **dict(zip(("score_before", "score_after", "score_of"), values, strict=True)),
                **{"metric": metric, "n": int(scores.n[cell.model, cell.benchmark, cell.method, cell.seed])},
            }
        )
    return pd.DataFrame(rows)


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """The table for people."""
    records = rows.to_dict("records")
    shown = rows[["model", "benchmark", "seed", "method", "of", "until"]].assign(
        spent=[f"{row['before']:,.0f} -> {row['spent']:,.0f} of {row['target']:,.0f}" for row in records],
        met=["yes" if row["met"] else "no" for row in records],
        steps=rows.steps,
        score=[f"{100 * row['score_before']:.1f} -> {100 * row['score_after']:.1f} (n={row['n']})" for row in records],
        score_of=[f"{100 * row['score_of']:.1f}" for row in records],
    )
    return shown.rename(columns={"of": "held to", "score_of": "score of that run"})


def main() -> None:
    """Write the table ``--table``.{csv,md,tex} from ``--summary`` and the folders below ``--cells``."""
    arguments = parse(__doc__, "plan", "cells", "summary", "table")
    metric = read_spec(AggregateSpec, arguments.spec).metrics[0]
    rows = table(load_frozen(Path(arguments.plan)), Path(arguments.cells), pd.read_csv(arguments.summary), metric)
    tables.write(Path(arguments.table), rows, CAPTION.format(metric=metric), readable(rows))


if __name__ == "__main__":
    run(main)
