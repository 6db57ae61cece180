"""Import a study into an MLflow database: an experiment a study, a run a cell with a run each for its adaptation and its evaluation.

Idempotent: a cell's run is known by its key and the digest of its files, which is written last, so a half-imported cell is imported again.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from ttrlab.config.specs import AggregateSpec
from ttrlab.config.study import Cell, Plan
from ttrlab.files import digest, read_json, sha256, write_json
from ttrlab.report import figures
from ttrlab.report.tracked import (
    EVALUATIONS,
    Point,
    audit_points,
    model_card_of,
    note,
    provenance,
    score_points,
    span_of,
    system_points,
    training_points,
)
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.plan import load_frozen

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

import mlflow
from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, Run
from mlflow.tracking import MlflowClient

FORMAT = 2
"""Of the runs; another one imports every cell anew."""
FILES = ("scores.csv", "questions.csv", "audit.csv", "adapt/steps.jsonl", "adapt/manifest.json")
BATCH = 1000
"""Metrics in one call, MLflow's limit."""


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
    return digest({"format": FORMAT} | {name: sha256(folder / name) for name in FILES if (folder / name).exists()})


class Importer:
    """Writes the runs of one experiment."""

    def __init__(self, client: MlflowClient, experiment: str, plan: Plan, results: Path, lock: Path) -> None:
        self.client, self.experiment, self.plan, self.results, self.lock = client, experiment, plan, results, lock
        self.known: dict[str, list[Run]] = {}
        for found in client.search_runs([experiment], max_results=50000):
            self.known.setdefault(found.data.tags.get("cell_key", ""), []).append(found)

    def is_known(self, key: str, content: str) -> bool:
        """True when a whole run of this content is there; what else is there under the key is deleted."""
        runs = self.known.get(key, [])
        if any(found.data.tags.get("content") == content for found in runs):
            return True
        for found in runs:
            self.client.delete_run(found.info.run_id)
        return False

    def start(self, name: str, tags: dict[str, str], started: int, parent: str | None = None) -> str:
        """A new run; returns its id."""
        nested = {"mlflow.parentRunId": parent} if parent else {}
        return self.client.create_run(self.experiment, run_name=name, start_time=started, tags={**tags, **nested}).info.run_id

    def fill(self, run_id: str, points: Iterable[Point], files: Sequence[Path], ended: int) -> None:
        """Write numbers and files of a run, and end it. Numbers carry the run's end as their time."""
        metrics = [Metric(point.name, point.value, ended, point.step) for point in points]
        for start in range(0, len(metrics), BATCH):
            self.client.log_batch(run_id, metrics=metrics[start : start + BATCH])
        for path in files:
            self.client.log_artifact(run_id, str(path))
        self.client.set_terminated(run_id, end_time=ended)

    def cell(self, cell: Cell, metric: str) -> None:
        """One cell: its run, and below it those of its adaptation and its evaluation."""
        folder = self.results / "cells" / cell.path
        content = content_of(folder)
        if self.is_known(cell.path, content):
            return
        card = model_card_of(folder)
        pair = self.plan.study.model_benchmarks.index((cell.model, cell.benchmark))
        page = f"{self.results}/page/index.html#/pair/{pair}"
        names = {"cell_key": cell.path, "model": cell.model, "benchmark": cell.benchmark, "method": cell.method, "seed": str(cell.seed)}
        tags = names | provenance(self.plan, cell, folder, self.lock) | {"page": page, "results": str(folder)}
        started, ended = span_of(folder, ("adapt", *EVALUATIONS))
        parent = self.start(cell.path, {**tags, "mlflow.note.content": note(cell, page, tags, card)}, started)
        self.client.log_batch(parent, params=cell_params(self.plan, cell))
        self._children(cell, folder, names, parent)
        summary = pd.read_csv(folder / "scores.csv")
        self._figures(parent, summary, folder, metric)
        points = [*score_points(folder, groups=False), *audit_points(folder)]
        self.fill(parent, points, [folder / "scores.csv", *([card] if card else [])], ended)
        self.client.set_tag(parent, "content", content)

    def _children(self, cell: Cell, folder: Path, names: dict[str, str], parent: str) -> None:
        adapted = folder / "adapt" / "manifest.json"
        if adapted.is_file():
            started, ended = span_of(folder, ("adapt",))
            child = self.start("adapt", {**names, "part": "adapt"}, started, parent)
            self._data(child, cell.benchmark, read_json(adapted)["inputs"]["questions.jsonl"], "adapted to, unlabelled")
            files = [adapted, folder / "adapt" / "steps.jsonl"]
            self.fill(child, [*training_points(folder), *audit_points(folder), *system_points(folder, ("adapt",))], files, ended)
        started, ended = span_of(folder, EVALUATIONS)
        child = self.start("evaluate", {**names, "part": "evaluate"}, started, parent)
        points = [*score_points(folder, groups=False), *score_points(folder, groups=True), *system_points(folder, EVALUATIONS)]
        self.fill(child, points, [folder / "scores.csv", folder / "questions.csv"], ended)

    def _data(self, run_id: str, benchmark: str, questions: str, context: str) -> None:
        """Name the questions that a run used, with their digest."""
        source = f"{self.results}/data/{benchmark}/questions.jsonl"
        data = Dataset(name=benchmark, digest=questions[:16], source_type="local", source=source)
        self.client.log_inputs(run_id, datasets=[DatasetInput(data, [InputTag("mlflow.data.context", context)])])

    def _figures(self, run_id: str, summary: pd.DataFrame, folder: Path, metric: str) -> None:
        self.client.log_figure(run_id, figures.endpoints(summary, metric), "figures/endpoint.png")
        if (folder / "audit.csv").exists():
            self.client.log_figure(run_id, figures.learning_curves(summary, metric), "figures/learning_curve.png")
            audit = figures.reward_audit(pd.read_csv(folder / "audit.csv"), self.plan.study.methods)
            self.client.log_figure(run_id, audit, "figures/reward_audit.png")

    def study(self, name: str) -> None:
        """One run for the whole study: its tables and figures."""
        files = sorted(path for kind in ("tables/*.md", "figures/*.png", "evidence/*.png") for path in self.results.glob(kind))
        content = digest({path.name: sha256(path) for path in files})
        if self.is_known(name, content):
            return
        times = [span_of(self.results / "cells" / cell.path, ("adapt", *EVALUATIONS)) for cell in self.plan.cells]
        note_text = f"Tables and figures of study {name}; its page: `{self.results}/page/index.html`, opened from disk."
        tags = {"cell_key": name, "part": "study", "mlflow.note.content": note_text}
        run_id = self.start(f"study {name}", tags, min(start for start, _ in times))
        self.fill(run_id, [], files, max(end for _, end in times))
        self.client.set_tag(run_id, "content", content)


def open_experiment(client: MlflowClient, study: str, artefacts: Path) -> str:
    """The id of a study's experiment, made when it is new; the page of a study opens on its training runs."""
    found = client.get_experiment_by_name(study)
    experiment = found.experiment_id if found else client.create_experiment(study, artifact_location=artefacts.as_uri())
    client.set_experiment_tag(experiment, "mlflow.experimentKind", "custom_model_development")
    text = f"Study `{study}`: a run a cell (model, benchmark, method, seed), one below it for its adaptation and one for its evaluation."
    client.set_experiment_tag(experiment, "mlflow.note.content", text)
    return experiment


def main() -> None:
    """Bring ``--database`` up to date with ``--results``, then write ``--receipt``: which cells it holds, by content."""
    arguments = parse(__doc__, "plan", "results", "lock", "database", "receipt")
    spec, results, database = read_spec(AggregateSpec, arguments.spec), Path(arguments.results), Path(arguments.database).resolve()
    plan = load_frozen(Path(arguments.plan))
    mlflow.set_tracking_uri(f"sqlite:///{database}")
    client = MlflowClient()
    importer = Importer(client, open_experiment(client, spec.study, database.parent / "mlflow"), plan, results, Path(arguments.lock))
    for cell in tqdm(plan.cells, unit="run", disable=None, desc="MLflow"):
        importer.cell(cell, spec.metrics[0])
    importer.study(spec.study)
    contents = {cell.path: content_of(results / "cells" / cell.path) for cell in plan.cells}
    write_json(Path(arguments.receipt), {"experiment": spec.study, "cells": contents})


if __name__ == "__main__":
    run(main)
