"""What the study did cost: hours by cell and phase from the jobs' own clocks, work that was done again included."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ttrlab.config.specs import AggregateSpec
from ttrlab.config.study import Plan
from ttrlab.evaluate.price import PHASES, part_of
from ttrlab.files import read_json, write_text
from ttrlab.meter import SUMMARY
from ttrlab.report.prices import digits, unit_of
from ttrlab.report.tables import markdown
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.plan import load_frozen
from ttrlab.stages.price import STAGES

COLUMNS = (
    *("model", "benchmark", "method", "seed", "stage", "phase", "devices", "attempts", "tokens"),
    *("wall_hours", "cpu_hours", "device_hours", "discarded_wall_hours", "discarded_cpu_hours", "discarded_device_hours"),
)


def rows_of(summary: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One row a phase of a job's ``cost.json``. ``device_hours``: wall-clock hours times the accelerators that the job held."""
    devices = len(summary["devices"])
    for phase, spent in sorted(summary["phases"].items()):
        yield {
            **place,
            "stage": summary["stage"],
            "phase": phase,
            "devices": summary["devices"][0] if devices else "cpu",
            "attempts": summary["attempts"],
            "tokens": spent.get("tokens"),
            "wall_hours": spent["wall"] / 3600,
            "cpu_hours": spent["cpu"] / 3600,
            "device_hours": devices * spent["wall"] / 3600,
            "discarded_wall_hours": spent["discarded_wall"] / 3600,
            "discarded_cpu_hours": spent["discarded_cpu"] / 3600,
            "discarded_device_hours": devices * spent["discarded_wall"] / 3600,
        }


def cost_table(results: Path, plan: Plan) -> pd.DataFrame:
    """Every phase of every job that has a ``cost.json``, in the order of the study; shared jobs first."""
    rows: list[dict[str, Any]] = []
    for path in sorted((results / "models").glob(f"*/{SUMMARY}")):
        rows += rows_of(read_json(path), {"model": path.parent.name, "benchmark": "", "method": "", "seed": None})
    for cell in plan.cells:
        place = {"model": cell.model, "benchmark": cell.benchmark, "method": cell.method, "seed": cell.seed}
        for path in (results / "cells" / cell.path / stage / SUMMARY for stage in STAGES):
            rows += rows_of(read_json(path), place) if path.is_file() else ()
    return pd.DataFrame(rows, columns=list(COLUMNS))


def readable(table: pd.DataFrame, hour: float) -> pd.DataFrame:
    """Methods in rows, phases in columns: CPU or device time of useful work, and what was discarded. ``hour``: in the unit shown."""
    on_devices = (table.devices != "cpu").any()
    used, lost = ("device_hours", "discarded_device_hours") if on_devices else ("cpu_hours", "discarded_cpu_hours")
    parts = table.assign(part=[part_of(stage, phase) for stage, phase in zip(table.stage, table.phase, strict=True)])
    parts["method"] = parts.method.where(parts.method != "", "(shared)")
    wide = (
        parts.pivot_table(index="method", columns="part", values=used, aggfunc="sum", sort=False)
        .reindex(columns=list(PHASES))
        .dropna(axis=1, how="all")
    )
    wide["discarded"] = parts.groupby("method")[lost].sum()
    wide["all"] = wide.sum(axis=1)
    wide.loc["all"] = wide.sum()
    return wide.map(lambda value: "" if pd.isna(value) else digits(hour * value)).reset_index()


def main() -> None:
    """Write ``--table`` (CSV) and ``--readable`` (Markdown) from the cost files below ``--results``."""
    arguments = parse(__doc__, "plan", "results", "table", "readable")
    spec, plan = read_spec(AggregateSpec, arguments.spec), load_frozen(Path(arguments.plan))
    table = cost_table(Path(arguments.results), plan)
    write_text(Path(arguments.table), table.to_csv(index=False))
    known = table[table.stage == "score"][["model", "benchmark", "method", "seed"]].drop_duplicates()
    name, unit = unit_of(np.asarray([3600 * table.cpu_hours.sum()]))
    kind = f"GPU-{name} (the CPU's part of scores: cost.csv)" if (table.devices != "cpu").any() else f"CPU-{name}"
    caption = f"{spec.study}: {kind} by method and phase over {len(known)} of {len(plan.cells)} cells; discarded: done again after a kill"
    write_text(Path(arguments.readable), markdown(readable(table, 3600 / unit), caption))


if __name__ == "__main__":
    run(main)
