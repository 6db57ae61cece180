"""Build the page of a study: a folder that opens from disk, with every score, curve and question."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ttrlab.benchmarks import read_gold, read_questions
from ttrlab.config.evidence import RegimeRule
from ttrlab.config.specs import EvidenceSpec
from ttrlab.config.study import Cell, Plan
from ttrlab.files import read_jsonl
from ttrlab.pools import PoolRow, read_pool
from ttrlab.rectifier.stored import JUDGEMENTS, judgements_by_content
from ttrlab.report.page.book import Book
from ttrlab.report.page.build import Tables, write_page
from ttrlab.report.page.samples import Decision
from ttrlab.stages.audit import stored_rollouts
from ttrlab.stages.command import read_spec, run, stage_parser
from ttrlab.stages.plan import load_frozen
from ttrlab.stages.rundir import step_number


def read_claims(path: Path) -> pd.DataFrame:
    """paper.csv of the study, empty where it is compared with no paper."""
    if not path.exists():
        return pd.DataFrame()
    return pd.read_csv(path, dtype={"value": str}, keep_default_na=False, na_values={name: [""] for name in NUMBERS})


def read_rule(path: Path) -> str:
    """How the claims were judged: the caption of paper.md."""
    return path.read_text(encoding="utf-8").splitlines()[0] if path.exists() else ""


def decisions_of(adapted: Path) -> Iterator[Decision]:
    """The rows of all decisions of an adaptation, in step order."""
    for path in sorted((adapted / "decisions").glob("step*"), key=step_number):
        yield from read_jsonl(path)


def visits_of(adapted: Path) -> Iterator[tuple[PoolRow, Decision]]:
    """Stored roll-outs with their decisions; ValueError where the two files differ."""
    for row, decision in zip(stored_rollouts(adapted), decisions_of(adapted), strict=True):
        if (row.question_id, row.step) != (decision["question_id"], decision["step"]):
            raise ValueError(
                f"{adapted}: roll-outs of {row.question_id!r}, step {row.step}, beside a decision on {decision['question_id']!r}"
            )
        yield row, decision


def first_and_last(adapted: Path) -> dict[str, frozenset[int]]:
    """Question id -> the steps of its first and last visit: the roll-outs that the page shows in full."""
    steps: dict[str, list[int]] = {}
    for decision in decisions_of(adapted):
        steps.setdefault(decision["question_id"], []).append(decision["step"])
    return {question_id: frozenset((min(seen), max(seen))) for question_id, seen in steps.items()}


NUMBERS = ("measured", "low", "high", "n", "seeds", "cells")
"""Columns of paper.csv that may be missing."""


@dataclass(frozen=True, slots=True)
class Library:
    """Books from the files of a study. ``scores``: questions.csv, the main metric only; ``unpublishable``: show those benchmarks, too."""

    plan: Plan
    results: Path
    scores: pd.DataFrame
    regimes: RegimeRule
    unpublishable: bool

    def book(self, model: str, benchmark: str) -> Book | None:
        """The book of one pair; None where the benchmark's authors ask that its items are not printed."""
        entry = self.plan.catalogue.benchmarks[benchmark]
        if not (entry.publishable or self.unpublishable):
            return None
        data = self.results / "data" / benchmark
        rows = self.scores[(self.scores.model == model) & (self.scores.benchmark == benchmark)]
        means = rows.groupby(["method", "question_id"], sort=False)["value"].mean()
        scores = {str(method): means[method].to_dict() for method in rows["method"].unique()}
        book = Book(read_questions(data / "questions.jsonl"), read_gold(data / "gold.jsonl"), scores, self.regimes)
        cells = [cell for cell in self.plan.cells if (cell.model, cell.benchmark) == (model, benchmark)]
        for cell in cells:
            self._add(book, cell)
        return book

    def _add(self, book: Book, cell: Cell) -> None:
        folder, first_seed = self.results / "cells" / cell.path, cell.seed == self.plan.study.seeds[0]
        if self.plan.method(cell).reward is None:
            if first_seed:
                book.add_base(read_pool(folder / "evaluate" / "rollouts.jsonl.gz"), cell.seed)
            return
        full = first_and_last(folder / "adapt") if first_seed else {}
        book.add_training(visits_of(folder / "adapt"), cell.method, cell.seed, full, judgements_by_content(folder / "adapt" / JUDGEMENTS))
        if first_seed and (folder / "replay" / "manifest.json").exists():
            for path in sorted((folder / "replay" / "decisions").glob("*.jsonl")):
                book.add_replay(read_jsonl(path), path.stem, cell.method, cell.seed)


def main() -> None:
    """Write ``--out`` from the files in ``--results``, a finished study."""
    parser = stage_parser(__doc__, "plan", "results", "out")
    parser.add_argument("--include-unpublishable", action="store_true", help="show the items of benchmarks marked publishable: false, too")
    arguments = parser.parse_args()
    spec, results = read_spec(EvidenceSpec, arguments.spec), Path(arguments.results)
    plan = load_frozen(Path(arguments.plan))
    questions = pd.read_csv(results / "questions.csv", dtype={"question_id": str})
    library = Library(plan, results, questions[questions.metric == spec.metrics[0]], spec.evidence.regimes, arguments.include_unpublishable)
    audit = results / "audit.csv"
    tables = Tables(
        summary=pd.read_csv(results / "summary.csv"),
        audit=pd.read_csv(audit) if audit.read_text(encoding="utf-8").strip() else pd.DataFrame(),
        contrasts=pd.read_csv(results / "contrasts.csv"),
        intervals=pd.read_csv(results / "intervals.csv"),
        paper=read_claims(results / "tables" / "paper.csv"),
        rule=read_rule(results / "tables" / "paper.md"),
    )
    figures = [path for folder in ("figures", "evidence") for path in sorted((results / folder).glob("*.svg"))]
    write_page(Path(arguments.out), spec, plan, tables, library.book, figures)


if __name__ == "__main__":
    run(main)
