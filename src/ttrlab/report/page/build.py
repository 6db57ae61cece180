"""Write the folder of a page from its parts: static files as they are, data as chunks, figures copied."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ttrlab.config.specs import AggregateSpec
from ttrlab.config.study import Plan
from ttrlab.files import atomic_folder
from ttrlab.report.page import overview, pair
from ttrlab.report.page.book import Book
from ttrlab.report.page.chunks import packed_texts, write_chunk

STATIC = Path(__file__).parent / "static"

Books = Callable[[str, str], Book | None]
"""(model, benchmark) -> its questions; None where they must not be shown."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The study's tables that the page shows; ``audit`` is empty where nothing was adapted, ``paper`` where no paper is compared with.

    ``rule``: how ``paper`` was judged, in words.
    """

    summary: pd.DataFrame
    audit: pd.DataFrame
    contrasts: pd.DataFrame
    intervals: pd.DataFrame
    paper: pd.DataFrame
    rule: str


def write_page(out: Path, spec: AggregateSpec, plan: Plan, tables: Tables, books: Books, figures: Sequence[Path]) -> None:
    """Write the page to ``out``, whole or not at all; equal inputs give equal bytes. Questions are read one pair at a time."""
    pairs = overview.pair_numbers(plan)
    with atomic_folder(out) as folder:
        shutil.copytree(STATIC, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
        (folder / "figures").mkdir()
        for figure in figures:
            shutil.copyfile(figure, folder / "figures" / figure.name)
        informed = [name for name in spec.methods if plan.catalogue.methods[name].gold]
        shown = [_write_pair(folder, number, key, spec, tables, books(*key), informed) for key, number in pairs.items()]
        study = {
            "study": spec.study,
            "metrics": spec.metrics,
            "seeds": plan.study.seeds,
            "methods": overview.methods(plan),
            "pairs": [
                {"model": model, "benchmark": benchmark, "questions": plan.catalogue.benchmarks[benchmark].rows, "shown": is_shown}
                for (model, benchmark), is_shown in zip(pairs, shown, strict=True)
            ],
            "claims": overview.claims(tables.paper),
            "rule": tables.rule,
            "scores": overview.scores(tables.summary, tables.intervals, spec.metrics, pairs),
            "contrasts": overview.contrasts(tables.contrasts, pairs),
            "figures": [f"figures/{figure.name}" for figure in figures],
        }
        write_chunk(folder, "study", study)


def _write_pair(
    folder: Path, number: int, key: tuple[str, str], spec: AggregateSpec, tables: Tables, book: Book | None, informed: Sequence[str]
) -> bool:
    """Write one pair's chunks; True when its questions are among them."""
    summary, audit = (pair.of_pair(table, *key) if len(table) else table for table in (tables.summary, tables.audit))
    data: dict[str, Any] = {
        "curves": pair.curves(summary, spec.metrics),
        "groups": pair.groups(summary, spec.metrics[0]),
        "audit": pair.audit_curves(audit),
        "whole": pair.audit_whole(audit),
        "questions": [] if book is None else book.index(spec.methods, informed),
    }
    write_chunk(folder, f"pair-{number}", data)
    if book is None:
        return False
    for place, question in enumerate(book.questions):
        numbers, texts = book.chunk(question)
        write_chunk(folder, f"question-{number}-{place}", numbers)
        write_chunk(folder, f"texts-{number}-{place}", packed_texts(texts))
    return True
