"""What a paper's printed quantity is about, and what a study has measured: which cells, which arms, under whose names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from ttrlab.config.evidence import Evidence
from ttrlab.evaluate import bootstrap
from ttrlab.evaluate.contrasts import Contrast, contrasts_from
from ttrlab.evaluate.paper import DIFFERENCE

NAN = float("nan")


class Wanted(NamedTuple):
    """A printed quantity by the paper's names. ``window``: "" at the endpoint."""

    model: str
    benchmark: str
    method: str
    metric: str
    window: str
    unit: str


class Estimate(NamedTuple):
    """What was measured of it; ``n`` questions, or settings that are not tied."""

    value: float
    low: float
    high: float
    n: int
    seeds: int
    cells: int = 1
    wins: float = NAN


@dataclass(frozen=True)
class Measurements:
    """Everything a study measured.

    ``questions``: questions.csv; ``audit``: audit.csv; ``efficiency``: steps to the baseline's plateau; ``offline``: the base model's
    questions before training; all empty where there is nothing. ``last_steps``: (model, benchmark) -> step of the endpoint; ``metric``: the
    study's main one.
    """

    questions: pd.DataFrame
    audit: pd.DataFrame
    efficiency: pd.DataFrame
    offline: pd.DataFrame
    last_steps: Mapping[tuple[str, str], int]
    metric: str
    evidence: Evidence
    resamples: int = bootstrap.RESAMPLES
    _found: dict[tuple[str, str, str], dict[tuple[str, str], Contrast]] = field(default_factory=dict)

    @cached_property
    def _metrics(self) -> frozenset[str]:
        return frozenset(self.questions["metric"].unique())

    def pairs(self, wanted: Wanted) -> list[tuple[str, str]]:
        """Our (model, benchmark) of every cell that the quantity is about."""
        models = self.evidence.models.get(wanted.model, (self.evidence.ours(wanted.model),))
        benchmarks = self.evidence.benchmarks.get(wanted.benchmark, (self.evidence.ours(wanted.benchmark),))
        return [(model, benchmark) for model in models for benchmark in benchmarks]

    def cells(self, wanted: Wanted, metric: str, method: str, baseline: str = "") -> list[Contrast]:
        """The cells of the quantity, arms by our names; empty where one of them was not measured."""
        key = (metric, method, baseline)
        if key not in self._found:
            found = contrasts_from(self.questions, *key) if metric in self._metrics else []
            self._found[key] = {(contrast.model, contrast.benchmark): contrast for contrast in found}
        cells = [self._found[key].get(pair) for pair in self.pairs(wanted)]
        return [cell for cell in cells if cell is not None] if all(cell is not None for cell in cells) else []

    def arms(self, wanted: Wanted) -> tuple[str, str]:
        """Our names of the method and of what it is compared with ("" for nothing)."""
        method, _, baseline = wanted.method.partition(DIFFERENCE)
        return self.evidence.ours(method), self.evidence.ours(baseline) if baseline else ""
