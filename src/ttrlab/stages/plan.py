"""What the workflow asks the configuration: the plan behind Snakemake's config, and each job's spec and files."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ttrlab.adapt.schedule import checkpoint_steps, total_steps, total_updates
from ttrlab.config.continuation import Continuing
from ttrlab.config.evidence import Evidence
from ttrlab.config.settings import Frozen
from ttrlab.config.specs import (
    LAST,
    AdaptSpec,
    AggregateSpec,
    EvidenceSpec,
    PrepareSpec,
    PretrainSpec,
    adapt_spec,
    audit_spec,
    evaluate_spec,
    offline_spec,
    score_spec,
)
from ttrlab.config.study import Cell, Plan, make_plan
from ttrlab.engines import ENGINES
from ttrlab.engines.openrlhf.checks import check_spec
from ttrlab.files import read_json, write_json, write_text
from ttrlab.signals import required_stats
from ttrlab.stages.ondisk import check_paths

CELL_KEYS = ("model", "benchmark", "method", "seed")
"""Keys of ``--config`` that name one cell for the target ``cell``; they are no part of the study."""

CATALOGUE_KEY = "catalogue"
"""Key of ``--config`` for a catalogue folder other than the project's ``config``; no part of the study either."""


def catalogue_folder(config: Mapping[str, Any], default: Path) -> Path:
    """The folder of the study's catalogue and papers: the project's, ``default``, unless Snakemake's ``config`` names another."""
    return Path(config[CATALOGUE_KEY]) if CATALOGUE_KEY in config else default


def load_plan(config: Mapping[str, Any], catalogue: Path) -> Plan:
    """The validated plan behind Snakemake's ``config``; ValueError lists the faults, one a line.

    ``catalogue``: the project's folder, used unless the config names another.
    """
    plan, _ = load_study({key: value for key, value in config.items() if key not in CELL_KEYS}, catalogue_folder(config, catalogue))
    check_engine(plan)
    check_schedules(plan)
    check_paths(plan)
    check_cluster(plan)
    return plan


def load_study(raw: Mapping[str, Any], catalogue: Path | None = None) -> tuple[Plan, Path]:
    """The plan of a study's mapping, and the catalogue folder behind it: ``catalogue``, else the study's own key, else ``config``."""
    folder = catalogue or (Path(raw[CATALOGUE_KEY]) if CATALOGUE_KEY in raw else Path("config"))
    return make_plan({key: value for key, value in raw.items() if key != CATALOGUE_KEY}, folder), folder


def check_engine(plan: Plan) -> None:
    """Refuse, by name, a rule whose signals the study's engine cannot provide, and a continuation that it cannot make."""
    engine = ENGINES[plan.study.engine]
    for name, method in plan.catalogue.methods.items():
        if method.reward is None:
            continue
        if method.continues and plan.study.engine == "openrlhf":
            raise ValueError(f"methods.{name}: continues another run until a budget is spent, which engine 'openrlhf' does not do")
        missing = required_stats(method.reward.needs) - engine.token_stats - {"logprobs"}
        if missing:
            raise ValueError(
                f"methods.{name}: rule {method.reward.rule!r} needs {', '.join(sorted(missing))}, "
                f"which engine {plan.study.engine!r} does not give"
            )


def check_schedules(plan: Plan) -> None:
    """Refuse, by cell, a warm-up that is not over before the run is."""
    for cell in plan.cells:
        training, rows = plan.training(cell), plan.benchmark(cell).rows
        if cell.seed != plan.study.seeds[0] or plan.method(cell).reward is None or training.warmup_steps is None:
            continue
        if training.warmup_steps >= (updates := total_updates(rows, training)):
            raise ValueError(f"cell {cell.path}: warmup_steps={training.warmup_steps}, but the whole run makes {updates} updates")


def check_cluster(plan: Plan) -> None:
    """Refuse, by cell, what OpenRLHF cannot run, where it is the study's engine."""
    for cell in plan.cells:
        if plan.study.engine == "openrlhf" and cell.seed == plan.study.seeds[0] and plan.method(cell).reward is not None:
            try:
                check_spec(adapt_spec(plan, cell))
            except ValueError as error:
                raise ValueError(f"cell {cell.path}: {error}") from None


def freeze(plan: Plan, path: Path) -> None:
    """Write the plan that a run starts with; jobs that start later read this and not the YAML."""
    write_text(path, plan.model_dump_json(indent=1, exclude_unset=True) + "\n")


def fix_rules(plan: Plan, path: Path) -> None:
    """Write the study's rules of judging the first time that it runs; later runs leave the file as it is."""
    if not path.exists():
        write_json(path, plan.study.evidence.rules())


def changed_rules(evidence: Evidence, path: Path) -> dict[str, str]:
    """Rules that are not as they were when the study first ran: name -> "then -> now"."""
    then, now = read_json(path), evidence.rules()
    return {name: f"{then[name]} -> {now[name]}" for name in now if name in then and then[name] != now[name]}


def load_frozen(path: Path) -> Plan:
    """The plan that the running workflow was started with."""
    return Plan.model_validate_json(path.read_text(encoding="utf-8"))


def requested_cell(plan: Plan, config: Mapping[str, Any]) -> Cell | None:
    """The cell named by ``--config model=... benchmark=... method=... seed=...``; None when no key is given.

    ValueError when a key is missing or the cell is not in the study, with the values that are.
    """
    given = {key: config[key] for key in CELL_KEYS if key in config}
    if not given:
        return None
    if len(given) < len(CELL_KEYS):
        raise ValueError(f"a cell needs all of {', '.join(CELL_KEYS)}; given: {given}")
    path = "{model}/{benchmark}/{method}/seed{seed}".format_map(given)
    for cell in plan.cells:
        if cell.path == path:
            return cell
    raise ValueError(f"cell {path} is not in study {plan.study.study!r}")


class Jobs:
    """Specs and paths of every job; built once when the workflow is planned."""

    def __init__(self, plan: Plan, results: str) -> None:
        self.plan, self.results = plan, results
        self.cells = {cell.path: cell for cell in plan.cells}
        self._steps = {path: self._checkpoints(cell) for path, cell in self.cells.items()}

    def _checkpoints(self, cell: Cell) -> tuple[int, ...]:
        if self.plan.method(cell).reward is None:
            return (0,)
        if self.plan.method(cell).continues:
            return (LAST,)
        return checkpoint_steps(self.plan.benchmark(cell).rows, self.plan.training(cell))

    def curve_steps(self, cell: Cell) -> tuple[int, ...]:
        """Checkpoints before the endpoint that are evaluated for the learning curve."""
        every = self.plan.study.evaluation.curve_every
        return self._steps[cell.path][:-1][::every] if every else ()

    def folder(self, cell: Cell) -> str:
        """Where a cell's results lie."""
        return f"{self.results}/cells/{cell.path}"

    def spec(self, stage: str, cell: Cell) -> str:
        """The JSON spec of one of a cell's stages."""
        specs: dict[str, Callable[[], Frozen]] = {
            "adapt": lambda: self._adapt(cell),
            "evaluate": lambda: evaluate_spec(self.plan, cell, self._steps[cell.path][-1:], endpoint=True),
            "curve": lambda: evaluate_spec(self.plan, cell, self.curve_steps(cell), endpoint=False),
            "score": lambda: score_spec(self.plan, cell),
            "audit": lambda: audit_spec(self.plan, cell),
            "offline": lambda: offline_spec(self.plan, cell),
        }
        return specs[stage]().model_dump_json()

    def _adapt(self, cell: Cell) -> AdaptSpec:
        spec, continues = adapt_spec(self.plan, cell), self.plan.method(cell).continues
        if continues is None:
            return spec
        after = total_steps(spec.rows, self.plan.training(replace(cell, method=continues.method)))
        return spec.model_copy(update={"continues": Continuing(**continues.model_dump(), after=after)})

    def continued(self, cell: Cell) -> list[str]:
        """The manifests of the run that a cell's goes on from, and of the run whose budget it is held to; nothing for other cells."""
        return [f"{folder}/manifest.json" for folder in self._continued(cell)]

    def continuing(self, cell: Cell) -> list[str]:
        """How those two runs are named on the adapt stage's command line."""
        folders = self._continued(cell)
        return ["--start", folders[0], "--budget", folders[1]] if folders else []

    def _continued(self, cell: Cell) -> list[str]:
        continues = self.plan.method(cell).continues
        return [f"{self.folder(replace(cell, method=name))}/adapt" for name in (continues.method, continues.of)] if continues else []

    def aggregate(self) -> str:
        """The spec of the study's tables and figures."""
        study = self.plan.study
        return AggregateSpec(study=study.study, metrics=study.evaluation.metrics, methods=study.methods).model_dump_json()

    def evidence(self) -> str:
        """The spec of the study's comparisons."""
        study = self.plan.study
        metrics = study.evaluation.metrics
        return EvidenceSpec(study=study.study, metrics=metrics, methods=study.methods, evidence=study.evidence).model_dump_json()

    def prepare(self, benchmark: str) -> str:
        """The spec of writing a benchmark's files."""
        return PrepareSpec(name=benchmark, benchmark=self.plan.catalogue.benchmarks[benchmark]).model_dump_json()

    def pretrain(self, model: str) -> str:
        """The spec of pre-training a lab model; ValueError for a model that is not the lab's."""
        entry = self.plan.catalogue.models[model]
        if entry.source != "lab":
            raise ValueError(f"model {model!r} is not a lab model, so nothing is pre-trained for it")
        return PretrainSpec(name=model, model=entry).model_dump_json()

    def parameters(self, model: str) -> int | None:
        """How many parameters a model has, as far as its entry says; the lab's tiny ones count as 0."""
        entry = self.plan.catalogue.models[model]
        return 0 if entry.source == "lab" else entry.parameters

    def weights(self, model: str) -> str:
        """What an engine loads: a folder on disk or a hub id."""
        entry = self.plan.catalogue.models[model]
        if entry.source == "lab":
            return f"{self.results}/models/{model}/model"
        return entry.id if entry.source == "hub" else entry.path

    def weight_files(self, model: str) -> list[str]:
        """Files of the workflow that a model depends on: a lab model's manifest, nothing for the others."""
        return [f"{self.results}/models/{model}/manifest.json"] if self.plan.catalogue.models[model].source == "lab" else []

    def adapted(self, cell: Cell) -> list[str]:
        """The manifest of a cell's adaptation; nothing for a method without one."""
        return [f"{self.folder(cell)}/adapt/manifest.json"] if self.plan.method(cell).reward is not None else []

    def offline(self, cell: Cell) -> list[str]:
        """The files of what a base cell of the first seed says before training; nothing for other cells."""
        first = self.plan.method(cell).reward is None and cell.seed == self.plan.study.seeds[0]
        return [f"{self.folder(cell)}/offline/{name}.csv" for name in ("questions", "votes")] if first else []

    def pools(self, cell: Cell) -> list[str]:
        """The evaluation pools of a cell: endpoint, and curve where there is one."""
        names = ["evaluate", "curve"] if self.curve_steps(cell) else ["evaluate"]
        return [f"{self.folder(cell)}/{name}/rollouts.jsonl.gz" for name in names]

    def results_of(self, cell: Cell) -> list[str]:
        """The files that make a cell complete: scores, and the audit where there was an adaptation."""
        names = ["scores.csv"] + (["audit.csv"] if self.adapted(cell) else [])
        return [f"{self.folder(cell)}/{name}" for name in names]
