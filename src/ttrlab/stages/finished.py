"""What a study has finished so far, read from its folder: scored cells, their tables, the base model's roll-outs under every rule."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ttrlab.benchmarks import read_gold, read_questions
from ttrlab.config.catalogue import Catalogue
from ttrlab.config.study import Cell, Plan
from ttrlab.evaluate.audit import rates
from ttrlab.files import read_json, read_jsonl
from ttrlab.meter import SUMMARY
from ttrlab.pools import PoolRow, read_pool
from ttrlab.replay.groups import is_usable, pool_needs
from ttrlab.replay.offline import question_rows
from ttrlab.replay.spec import replay_spec
from ttrlab.replay.whole import ReplayFiles, replay
from ttrlab.report.highlights import Decision
from ttrlab.report.tables import read_all
from ttrlab.rewards import Rule
from ttrlab.rewards.core import Core
from ttrlab.rewards.scope import SubgroupRule
from ttrlab.stages.plan import load_frozen

KEYS = ["model", "benchmark", "method", "seed"]
ROLLOUTS = "evaluate/rollouts.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Finished:
    """A study, those of its cells that have their scores, and those whose training has been audited."""

    plan: Plan
    results: Path
    cells: tuple[Cell, ...]
    audited: tuple[Cell, ...]

    @property
    def begun(self) -> bool:
        """True when there is something to tell: a scored or audited cell, or a frozen judge."""
        return bool(self.cells or self.audited or list(self.results.glob("rectifiers/*/frozen/*.json")))

    def folder(self, cell: Cell) -> Path:
        """A cell's folder."""
        return self.results / "cells" / cell.path

    def table(self, name: str) -> pd.DataFrame:
        """``scores.csv`` or ``questions.csv`` of the scored cells, or ``audit.csv`` of the audited ones, below each other."""
        return read_all(self.folder(cell) / name for cell in (self.audited if name == "audit.csv" else self.cells))

    def bases(self, benchmark: str) -> list[Cell]:
        """Cells whose endpoint is the model as given, one a seed."""
        return [cell for cell in self.cells if cell.benchmark == benchmark and self.plan.method(cell).reward is None]

    def benchmarks(self) -> list[str]:
        """Benchmarks with a finished cell, in the order of the study."""
        return list(dict.fromkeys(cell.benchmark for cell in self.cells))

    def gold(self, benchmark: str) -> dict[str, str]:
        """Question id -> answer."""
        return {name: entry.answer for name, entry in read_gold(self._data(benchmark, "gold")).items()}

    def texts(self, benchmark: str) -> dict[str, str]:
        """Question id -> its text."""
        return {question.id: question.prompt for question in read_questions(self._data(benchmark, "questions"))}

    def _data(self, benchmark: str, name: str) -> Path:
        return self.results / "data" / benchmark / f"{name}.jsonl"

    def rows(self, benchmark: str) -> list[PoolRow]:
        """The base model's roll-outs, all seeds below each other."""
        return [row for cell in self.bases(benchmark) for row in read_pool(self.folder(cell) / ROLLOUTS)]

    def offline(self, benchmark: str) -> pd.DataFrame:
        """``question_rows`` of the base model's roll-outs under CoRE, with the cell's seed as ``run``."""
        rule, gold = self.plan.study.evidence.regimes, self.gold(benchmark)
        parts = [
            question_rows(list(read_pool(self.folder(cell) / ROLLOUTS)), gold, Core(), rule).assign(run=cell.seed)
            for cell in self.bases(benchmark)
        ]
        return pd.concat(parts, ignore_index=True)

    def replayed(self, benchmark: str, catalogue: Catalogue) -> dict[str, list[Decision]]:
        """Method -> its decisions on ``rows(benchmark)``: every rule of the catalogue that the roll-outs can serve, none that asks a judge.

        What was replayed before is not replayed again.
        """
        found: dict[str, list[Decision]] = {}
        for cell in self.bases(benchmark):
            folder, pool = self.folder(cell) / "replay-base", self.folder(cell) / ROLLOUTS
            first = next(iter(read_pool(pool)))
            rules = {
                name: method.reward
                for name, method in catalogue.methods.items()
                if method.reward is not None and _serves(first, method.reward)
            }
            spec = replay_spec(self.plan, rules, batch=self.plan.training(cell).batch, benchmark=benchmark)
            replay(spec, ReplayFiles(pool, folder, self._data(benchmark, "gold"), self._data(benchmark, "questions")))
            for name in rules:
                found.setdefault(name, []).extend(read_jsonl(folder / "decisions" / f"{name}.jsonl"))
        return found

    def jobs(self) -> Iterator[dict[str, Any]]:
        """The recorded cost of every job of the finished cells, with their cell's columns and the study's name."""
        for cell in dict.fromkeys((*self.cells, *self.audited)):
            for path in sorted(self.folder(cell).glob(f"*/{SUMMARY}")):
                yield {"study": self.plan.study.study, "benchmark": cell.benchmark, "method": cell.method, **read_json(path)}

    def manifests(self) -> Iterator[Mapping[str, Any]]:
        """What the adaptations recorded about themselves."""
        for cell in self.audited:
            yield read_json(self.folder(cell) / "adapt" / "manifest.json")


def _serves(row: PoolRow, rule: Rule) -> bool:
    """True when the rule needs no judge, finds its signals, and can cut so many roll-outs into its subgroups."""
    divides = not isinstance(rule, SubgroupRule) or any(len(row.texts) % size == 0 for size in rule.sizes)
    return divides and not rule.needs_judge and all(is_usable(row, name) for name in pool_needs(rule))


def read_finished(results: Path) -> Finished:
    """The study in ``results``: what of it is there."""
    plan = load_frozen(results / "plan.json")

    def having(name: str) -> tuple[Cell, ...]:
        return tuple(cell for cell in plan.cells if (results / "cells" / cell.path / name).is_file())

    return Finished(plan, results, having("questions.csv"), having("audit.csv"))


def whole_run(audit: pd.DataFrame) -> pd.DataFrame:
    """``rates`` of a method's whole runs, counts summed over seeds: a row a (model, benchmark, method)."""
    runs = audit[audit["window"] == "whole run"]
    counts = list(runs.loc[:, "groups":"reachable"].columns)
    grouped = runs.groupby(KEYS[:-1], sort=False)
    return rates(grouped[counts].sum()).assign(seeds=grouped["seed"].nunique()).reset_index()
