"""Join all cells into tidy tables, and make the main table and the figures from them."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from ttrlab.config.specs import AggregateSpec
from ttrlab.config.study import Cell
from ttrlab.evaluate.audit import over_seeds
from ttrlab.files import read_jsonl, write_text
from ttrlab.report import figures, tables
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.plan import load_frozen

AUDIT = (
    "Training rewards against gold, joined afterwards, in %, summed over seeds. n: visits of questions; accepted: visits with a label; "
    "active: with an advantage other than 0; FP removed, TP kept: against the plain vote on the same roll-outs"
)
RATES = {
    "reward accuracy": "reward_accuracy",
    "precision": "precision",
    "recall": "recall",
    "FPR": "fpr",
    "FP of errors": "fp_share_of_errors",
    "label accuracy": "label_accuracy",
    "vote's": "majority_label_accuracy",
    "accepted": "coverage",
    "active": "active_share",
    "FP removed": "fp_removed",
    "TP kept": "tp_kept",
}
ENDPOINTS = "Scores at the last checkpoint: mean over seeds, their standard deviation, difference from base; n questions"


def shown_audit(windows: pd.DataFrame) -> pd.DataFrame:
    """The audit for people: rates in per cent."""
    shown = windows[["model", "benchmark", "method", "window"]].assign(
        steps=[f"{row.first_step}-{row.last_step}" for row in windows.itertuples()]
    )
    percent = {title: windows[name].map(lambda share: "" if pd.isna(share) else f"{100 * share:.1f}") for title, name in RATES.items()}
    return shown.assign(**percent, n=windows["groups"], seeds=windows["seeds"])


def join(cells: Path, wanted: Iterable[Cell], name: str) -> pd.DataFrame:
    """One table of the file ``name`` of all cells that have it, in the order of the study."""
    frames = [pd.read_csv(cells / cell.path / name) for cell in wanted]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def join_steps(cells: Path, wanted: Iterable[Cell]) -> pd.DataFrame:
    """The step records of all adaptations, with their cell's columns."""
    frames = [pd.DataFrame(read_jsonl(cells / cell.path / "adapt" / "steps.jsonl")).assign(**asdict(cell)) for cell in wanted]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def main() -> None:
    """Write summary.csv, questions.csv, audit.csv, steps.csv, tables and figures into ``--out``."""
    arguments = parse(__doc__, "plan", "cells", "out")
    spec, out, cells = read_spec(AggregateSpec, arguments.spec), Path(arguments.out), Path(arguments.cells)
    plan = load_frozen(Path(arguments.plan))
    adapted = [cell for cell in plan.cells if plan.method(cell).reward is not None]
    summary, audit = join(cells, plan.cells, "scores.csv"), join(cells, adapted, "audit.csv")
    whole = {
        "summary": summary,
        "questions": join(cells, plan.cells, "questions.csv"),
        "audit": audit,
        "steps": join_steps(cells, adapted),
    }
    for name, table in whole.items():
        write_text(out / f"{name}.csv", table.to_csv(index=False))
    means = pd.concat([tables.endpoint_means(summary, metric) for metric in spec.metrics], ignore_index=True)
    tables.write(out / "tables" / "endpoints", means, ENDPOINTS)
    main_metric = spec.metrics[0]
    caption = f"{main_metric} in %, mean over seeds at the last checkpoint (difference from base); n and seeds: endpoints.csv"
    main_table = tables.wide(means[means.metric == main_metric], spec.methods)
    tables.write(out / "tables" / "main", main_table, caption)
    figures.save(figures.endpoints(summary, main_metric), out / "figures" / "endpoints")
    figures.save(figures.learning_curves(summary, main_metric), out / "figures" / "learning_curves")
    if len(audit):
        windows = over_seeds(audit)
        tables.write(out / "tables" / "audit", windows, AUDIT, shown_audit(windows))
        figures.save(figures.reward_audit(audit, spec.methods), out / "figures" / "reward_audit")


if __name__ == "__main__":
    run(main)
