"""A study: which cells of (model x benchmark x method x seed) are run, and with which settings."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from ttrlab.config.catalogue import Benchmark, Catalogue, Method, Model, explain, load_catalogue
from ttrlab.config.evidence import Evidence, check_papers
from ttrlab.config.settings import Evaluation, Frozen, Sampling, SamplingOverride, Training, TrainingOverride, overridden

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class When(Frozen):
    """Which cells a setting applies to: every given key must match; an empty ``when`` matches all."""

    model: tuple[Name, ...] | Name | None = None
    benchmark: tuple[Name, ...] | Name | None = None
    method: tuple[Name, ...] | Name | None = None

    def matches(self, cell: "Cell") -> bool:
        """True when each given key names the cell's value."""
        return all(
            wanted is None or value in ((wanted,) if isinstance(wanted, str) else wanted)
            for wanted, value in ((self.model, cell.model), (self.benchmark, cell.benchmark), (self.method, cell.method))
        )

    def names(self) -> Iterator[tuple[str, str]]:
        """(kind, name) of everything that is mentioned."""
        for kind, wanted in (("models", self.model), ("benchmarks", self.benchmark), ("methods", self.method)):
            for name in (wanted,) if isinstance(wanted, str) else wanted or ():
                yield kind, name


class Setting(Frozen):
    """Overrides for the cells that ``when`` matches; later settings win."""

    when: When = When()
    training: TrainingOverride | None = None
    sampling: SamplingOverride | None = None


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
        self._check_names()
        for cell in self.cells:
            if cell.seed == self.study.seeds[0]:
                self._check_cell(cell)
        return self

    def _check_names(self) -> None:
        study, catalogue = self.study, self.catalogue
        named = [("models", model) for model, _ in study.model_benchmarks]
        named += [("benchmarks", benchmark) for _, benchmark in study.model_benchmarks]
        named += [("methods", method) for method in study.methods]
        named += [(kind, name) for i in study.settings for kind, name in i.when.names()]
        for name in study.methods:
            method = catalogue.methods.get(name)
            if method is not None and method.reward is not None and method.reward.needs_judge:
                if method.judge is None:
                    raise ValueError(f"methods.{name}: rule {method.reward.rule!r} needs a judge, and the method has no judge: entry")
                if method.judge.trained:
                    raise ValueError(f"methods.{name}.judge.rectifier: the workflow does not train rectifiers yet; name a trained model")
                named.append(("models", method.judge.model))
        known: dict[str, Collection[str]] = {
            "models": catalogue.models,
            "benchmarks": catalogue.benchmarks,
            "methods": catalogue.methods,
        }
        for kind, name in named:
            if name not in known[kind]:
                raise ValueError(f"{kind}: unknown name {name!r}; the catalogue has {', '.join(sorted(known[kind]))}")

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

    def training(self, cell: Cell) -> Training:
        """The cell's training settings, merged."""
        matching = [setting.training for setting in self.study.settings if setting.when.matches(cell)]
        return overridden(
            Training(),
            self.study.training,
            self.benchmark(cell).training,
            self.model(cell).training,
            self.method(cell).training,
            *matching,
        )

    def sampling(self, cell: Cell) -> Sampling:
        """The cell's sampling settings for training roll-outs, merged."""
        matching = [setting.sampling for setting in self.study.settings if setting.when.matches(cell)]
        return overridden(
            Sampling(),
            self.study.sampling,
            self.benchmark(cell).sampling,
            self.model(cell).sampling,
            self.method(cell).sampling,
            *matching,
        )


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
        Plan(study=study, catalogue=catalogue)
    except ValidationError as error:
        raise ValueError(explain(error, f"study {raw.get('study', '(unnamed)')}")) from None
    models, benchmarks = (set(names) for names in zip(*study.model_benchmarks, strict=True))
    mentioned = {pair for setting in study.settings for pair in setting.when.names()}
    models |= {name for kind, name in mentioned if kind == "models"}
    benchmarks |= {name for kind, name in mentioned if kind == "benchmarks"}
    judges = [catalogue.methods[name].judge for name in study.methods]
    models |= {judge.model for judge in judges if judge is not None}
    methods = set(study.methods) | {name for kind, name in mentioned if kind == "methods"}
    return Plan(
        study=study,
        catalogue=Catalogue(
            models={name: catalogue.models[name] for name in sorted(models)},
            benchmarks={name: catalogue.benchmarks[name] for name in sorted(benchmarks)},
            methods={name: catalogue.methods[name] for name in sorted(methods)},
        ),
    )
