"""A study: which cells of (model x benchmark x method x seed) are run, and with which settings."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from ttrlab.config.catalogue import Benchmark, Catalogue, Method, Model, explain, load_catalogue
from ttrlab.config.evidence import Evidence, check_papers
from ttrlab.config.judge import JudgeConfig
from ttrlab.config.overrides import Deployment, Name, Setting
from ttrlab.config.settings import Evaluation, Frozen, Sampling, SamplingOverride, Training, TrainingOverride, overridden


class Study(Frozen):
    """One YAML file of a researcher: the grid and its settings.

    The grid is ``models`` x ``benchmarks`` x ``methods`` x ``seeds``; ``pairs`` of [model, benchmark] stand in place of the product of the
    first two. Settings are merged in this order, later ones winning: the study's ``training``, the benchmark's, the model's, the
    method's, then the matching ``settings``.
    """

    study: Name
    models: tuple[Name, ...] = ()
    benchmarks: tuple[Name, ...] = ()
    pairs: tuple[tuple[Name, Name], ...] = ()
    methods: tuple[Name, ...] = Field(min_length=1)
    seeds: tuple[Annotated[int, Field(ge=0, lt=2**32)], ...] = Field(min_length=1)
    engine: Literal["torch", "vllm", "openrlhf"] = "torch"
    training: TrainingOverride | None = None
    sampling: SamplingOverride | None = None
    evaluation: Evaluation = Evaluation()
    evidence: Evidence = Evidence()
    deployment: Deployment | None = None
    settings: tuple[Setting, ...] = ()

    @model_validator(mode="after")
    def _a_grid(self) -> "Study":
        if bool(self.pairs) == bool(self.models or self.benchmarks):
            raise ValueError("give either pairs, or models and benchmarks")
        if not self.pairs and not (self.models and self.benchmarks):
            raise ValueError("models and benchmarks must both be non-empty")
        lists: dict[str, tuple[object, ...]] = {
            "models": self.models,
            "benchmarks": self.benchmarks,
            "pairs": self.pairs,
            "methods": self.methods,
            "seeds": self.seeds,
        }
        for key, values in lists.items():
            doubled = sorted({str(value) for value in values if values.count(value) > 1})
            if doubled:
                raise ValueError(f"{key}: {', '.join(doubled)} given twice")
        models, benchmarks = (tuple(dict.fromkeys(names)) for names in zip(*self.model_benchmarks, strict=True))
        strangers = list(self.evidence.strangers(models, benchmarks, self.methods))
        if strangers:
            raise ValueError("; ".join(strangers))
        return self

    @property
    def model_benchmarks(self) -> tuple[tuple[str, str], ...]:
        """The (model, benchmark) pairs of the grid."""
        return self.pairs or tuple((model, benchmark) for model in self.models for benchmark in self.benchmarks)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One cell of the grid."""

    model: str
    benchmark: str
    method: str
    seed: int

    @property
    def path(self) -> str:
        """The cell's folder below ``results/<study>/cells``."""
        return f"{self.model}/{self.benchmark}/{self.method}/seed{self.seed}"


class Plan(Frozen):
    """A study together with the catalogue entries that it names: all that planning and running needs, validated as a whole."""

    study: Study
    catalogue: Catalogue

    @model_validator(mode="after")
    def _known_and_possible(self) -> "Plan":
        self._check_names(self.mentioned())
        self._check_continuations()
        self._check_names(named for cell in self.cells for judge in self.judges(cell) for named in judge.names())
        for cell in self.cells:
            if cell.seed == self.study.seeds[0]:
                self._check_cell(cell)
        return self

    def mentioned(self) -> list[tuple[str, str]]:
        """(kind, name) of everything that the study mentions itself."""
        study = self.study
        deployment = study.deployment
        named = [("models", model) for model, _ in study.model_benchmarks]
        named += [("benchmarks", benchmark) for _, benchmark in study.model_benchmarks]
        named += [("methods", method) for method in study.methods]
        named += [("methods", method) for method in (*deployment.judges, *deployment.methods)] if deployment else []
        return named + [pair for setting in study.settings for pair in setting.when.names()]

    def _check_names(self, named: Iterable[tuple[str, str]]) -> None:
        catalogue = self.catalogue
        known: dict[str, Collection[str]] = {
            "models": catalogue.models,
            "benchmarks": catalogue.benchmarks,
            "methods": catalogue.methods,
        }
        for kind, name in named:
            if name not in known[kind]:
                raise ValueError(f"{kind}: unknown name {name!r}; the catalogue has {', '.join(sorted(known[kind]))}")

    def _check_continuations(self) -> None:
        for method in self.study.methods:
            continues = self.catalogue.methods[method].continues
            absent = [name for name in (continues.method, continues.of) if name not in self.study.methods] if continues else []
            if absent:
                raise ValueError(f"methods: {method} needs the runs of {', '.join(absent)}, which the study does not name")

    def _check_cell(self, cell: Cell) -> None:
        """Refuse settings that cannot run, naming the cell."""
        try:
            training, sampling = self.training(cell), self.sampling(cell)
        except ValidationError as error:
            raise ValueError(explain(error, f"cell {cell.path}, merged settings")) from None
        if self.method(cell).reward is not None and sampling.temperature == 0:
            raise ValueError(f"cell {cell.path}: sampling.temperature is 0, so all roll-outs of a question would be the same one")
        rows = self.catalogue.benchmarks[cell.benchmark].rows
        if self.method(cell).reward is not None and training.last_batch == "drop" and rows < training.batch:
            raise ValueError(f"cell {cell.path}: last_batch=drop leaves nothing of {rows} rows in batches of {training.batch}")

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell, in the order of the study."""
        return tuple(
            Cell(model, benchmark, method, seed)
            for model, benchmark in self.study.model_benchmarks
            for method in self.study.methods
            for seed in self.study.seeds
        )

    def model(self, cell: Cell) -> Model:
        """The cell's model entry."""
        return self.catalogue.models[cell.model]

    def benchmark(self, cell: Cell) -> Benchmark:
        """The cell's benchmark entry."""
        return self.catalogue.benchmarks[cell.benchmark]

    def method(self, cell: Cell) -> Method:
        """The cell's method entry."""
        return self.catalogue.methods[cell.method]

    def judge(self, cell: Cell) -> JudgeConfig | None:
        """The judge of the cell's method: that of the last setting which gives one, or the method's own; None for a rule that asks none.

        ValueError names a method that needs a judge and has none.
        """
        rule = self.method(cell).reward
        if rule is None or not rule.needs_judge:
            return None
        given = [one.judge for one in self._settings(cell.model, cell.benchmark, cell.method) if one.judge]
        judge = given[-1] if given else self.method(cell).judge
        if judge is None:
            raise ValueError(f"methods.{cell.method}: rule {rule.rule!r} needs a judge, and nothing gives it one in cell {cell.path}")
        return judge

    def deployed(self, cell: Cell) -> dict[str, JudgeConfig]:
        """The judges that read the cell's endpoint roll-outs, by the name of their method; ValueError for a method without a judge."""
        deployment = self.study.deployment
        if deployment is None or (deployment.methods and cell.method not in deployment.methods):
            return {}
        found: dict[str, JudgeConfig] = {}
        for name in deployment.judges:
            judge = self.judge(replace(cell, method=name))
            if judge is None:
                raise ValueError(f"deployment.judges: method {name!r} asks no judge")
            found[name] = judge
        return found

    def judges(self, cell: Cell) -> tuple[JudgeConfig, ...]:
        """Every judge that a job of the cell asks."""
        own = self.judge(cell)
        return (*((own,) if own else ()), *self.deployed(cell).values())

    def training(self, cell: Cell) -> Training:
        """The cell's training settings, merged."""
        return self.training_of(cell.model, cell.benchmark, cell.method)

    def sampling(self, cell: Cell) -> Sampling:
        """The cell's sampling settings for training roll-outs, merged."""
        return self.sampling_of(cell.model, cell.benchmark, cell.method)

    def training_of(self, model: str, benchmark: str, method: str | None) -> Training:
        """Training settings, merged; ``method`` None: those that no method changes."""
        entries = self._entries(model, benchmark, method)
        matching = [one.training for one in self._settings(model, benchmark, method)]
        merged = overridden(Training(), self.study.training, *(entry.training for entry in entries), *matching)
        continues = self.catalogue.methods[method].continues if method is not None else None
        return continues.training(merged) if continues else merged

    def sampling_of(self, model: str, benchmark: str, method: str | None) -> Sampling:
        """Sampling settings, merged; ``method`` None: those that no method changes."""
        entries = self._entries(model, benchmark, method)
        matching = [one.sampling for one in self._settings(model, benchmark, method)]
        return overridden(Sampling(), self.study.sampling, *(entry.sampling for entry in entries), *matching)

    def _entries(self, model: str, benchmark: str, method: str | None) -> list[Benchmark | Model | Method]:
        """Catalogue entries in the order in which their overrides are merged."""
        own = [] if method is None else [self.catalogue.methods[name] for name in self.line(method)]
        return [self.catalogue.benchmarks[benchmark], self.catalogue.models[model], *own]

    def line(self, method: str) -> tuple[str, ...]:
        """The method that ``method`` continues, if it does, and itself."""
        continues = self.catalogue.methods[method].continues
        return (continues.method, method) if continues else (method,)

    def _settings(self, model: str, benchmark: str, method: str | None) -> list[Setting]:
        """The study's settings that hold for a cell: those of a continued method hold for its continuation, too."""
        names = (None,) if method is None else self.line(method)
        return [one for one in self.study.settings if any(one.when.matches(model, benchmark, name) for name in names)]


@cache
def _catalogue(folder: Path) -> Catalogue:
    return load_catalogue(folder)


def make_plan(raw: Mapping[str, object], catalogue_folder: Path) -> Plan:
    """Validate a study mapping against the catalogue. ValueError: one line a fault, with the full path of the key.

    The plan keeps only the entries that the study names, so that a frozen plan changes only when something in it does.
    """
    catalogue = _catalogue(catalogue_folder)
    try:
        study = Study.model_validate(raw)
        check_papers(study.evidence, catalogue_folder / "paper")
        plan = Plan(study=study, catalogue=catalogue)
    except ValidationError as error:
        raise ValueError(explain(error, f"study {raw.get('study', '(unnamed)')}")) from None
    named = set(plan.mentioned()) | {pair for cell in plan.cells for judge in plan.judges(cell) for pair in judge.names()}
    models, benchmarks, methods = ({name for kind, name in named if kind == wanted} for wanted in ("models", "benchmarks", "methods"))
    return Plan(
        study=study,
        catalogue=Catalogue(
            models={name: catalogue.models[name] for name in sorted(models)},
            benchmarks={name: catalogue.benchmarks[name] for name in sorted(benchmarks)},
            methods={name: catalogue.methods[name] for name in sorted(methods)},
        ),
    )
