"""Import all cells into an MLflow database, one run a cell. Idempotent: a run is known by its cell and the digest of its files."""

import os
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from ttrlab.config.specs import AggregateSpec
from ttrlab.config.study import Cell, Plan
from ttrlab.files import digest, read_jsonl, sha256, write_json
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.plan import load_frozen

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

import mlflow
from mlflow.entities import Metric, Param, Run, RunTag
from mlflow.tracking import MlflowClient

FILES = ("scores.csv", "audit.csv", "adapt/steps.jsonl")
BATCH = 1000
"""Metrics in one call, MLflow's limit."""


def cell_metrics(folder: Path) -> list[Metric]:
    """Step records, scores (group in the name unless all) and the audit of a cell as MLflow metrics by step."""
    metrics: list[Metric] = []
    steps, audit = folder / "adapt" / "steps.jsonl", folder / "audit.csv"
    for record in read_jsonl(steps) if steps.exists() else ():
        step = record.pop("step")
        metrics += [Metric(f"train/{name}", float(value), 0, step) for name, value in record.items() if value is not None]
    scores = pd.read_csv(folder / "scores.csv")
    for row in scores.to_dict("records"):
        group = "" if row["group"] == "all" else f"/{row['group'].replace('=', '-')}"
        metrics.append(Metric(f"eval/{row['metric'].replace('@', '_at_')}{group}", float(row["value"]), 0, int(row["step"])))
    if audit.exists():
        table = pd.read_csv(audit)
        for row in table[table.window == "step"].to_dict("records"):
            for name in ("label_accuracy", "reward_accuracy", "active_share", "coverage"):
                if pd.notna(row[name]):
                    metrics.append(Metric(f"audit/{name}", float(row[name]), 0, int(row["last_step"])))
    return metrics


def cell_params(plan: Plan, cell: Cell) -> list[Param]:
    """The cell's settings: training, sampling and the rule's own fields."""
    settings = {"training": plan.training(cell), "sampling": plan.sampling(cell), "rule": plan.method(cell).reward}
    return [
        Param(f"{kind}.{name}", str(value)[:6000])
        for kind, setting in settings.items()
        if setting is not None
        for name, value in setting.model_dump().items()
    ]


def content_of(folder: Path) -> str:
    """Digest of the files of a cell that an MLflow run is made from."""
    return digest({name: sha256(folder / name) for name in FILES if (folder / name).exists()})


def import_cell(
    client: MlflowClient, experiment: str, plan: Plan, cell: Cell, folder: Path, content: str, known: Mapping[str, Run]
) -> None:
    """Write one cell's run unless an identical one is there; a superseded run is deleted."""
    if cell.path in known:
        if known[cell.path].data.tags["content"] == content:
            return
        client.delete_run(known[cell.path].info.run_id)
    tags = {
        "cell_key": cell.path,
        "content": content,
        "model": cell.model,
        "benchmark": cell.benchmark,
        "method": cell.method,
        "seed": str(cell.seed),
        "results": str(folder),
    }
    run_id = client.create_run(experiment, run_name=cell.path, start_time=0).info.run_id
    client.log_batch(run_id, params=cell_params(plan, cell), tags=[RunTag(key, value) for key, value in tags.items()])
    metrics = cell_metrics(folder)
    for start in range(0, len(metrics), BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + BATCH])
    for name in FILES:
        if (folder / name).exists():
            client.log_artifact(run_id, str(folder / name))
    client.set_terminated(run_id, end_time=0)


def main() -> None:
    """Bring ``--database`` up to date with ``--cells``, then write ``--receipt``: which cells it holds, by content."""
    arguments = parse(__doc__, "plan", "cells", "database", "receipt")
    spec, cells, database = read_spec(AggregateSpec, arguments.spec), Path(arguments.cells), Path(arguments.database).resolve()
    plan = load_frozen(Path(arguments.plan))
    mlflow.set_tracking_uri(f"sqlite:///{database}")
    client = MlflowClient()
    found = client.get_experiment_by_name(spec.study)
    artefacts = (database.parent / "mlflow").as_uri()
    experiment = found.experiment_id if found else client.create_experiment(spec.study, artifact_location=artefacts)
    client.set_experiment_tag(experiment, "mlflow.experimentKind", "custom_model_development")  # the UI opens on the training runs
    known = {run.data.tags["cell_key"]: run for run in client.search_runs([experiment], max_results=50000)}
    contents = {cell.path: content_of(cells / cell.path) for cell in plan.cells}
    for cell in tqdm(plan.cells, unit="run", disable=None, desc="MLflow"):
        import_cell(client, experiment, plan, cell, cells / cell.path, contents[cell.path], known)
    write_json(Path(arguments.receipt), {"experiment": spec.study, "cells": contents})


if __name__ == "__main__":
    run(main)
