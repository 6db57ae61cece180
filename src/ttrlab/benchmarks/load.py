"""A catalogue entry -> questions, gold and tags: read, filter, check, split, count."""

from pathlib import Path

from ttrlab.benchmarks import arithmetic
from ttrlab.benchmarks.sources import hub_rows, read_rows
from ttrlab.benchmarks.split import split_items
from ttrlab.benchmarks.store import Loaded
from ttrlab.benchmarks.table import Item, check_columns, to_item, unique
from ttrlab.config.catalogue import ArithmeticBenchmark, Benchmark, Columns, GeneratedBenchmark, HubBenchmark, PathBenchmark


def load_benchmark(name: str, benchmark: Benchmark) -> Loaded:
    """The benchmark that the entry ``name`` describes. ValueError names file, row and column of what is wrong in its source,
    or both numbers where the source does not have the ``rows`` that the entry states."""
    if isinstance(benchmark, GeneratedBenchmark):
        loaded = _generated(benchmark)
    elif isinstance(benchmark, ArithmeticBenchmark):
        loaded = _arithmetic(benchmark)
    else:
        loaded = _from_rows(name, benchmark)
    if len(loaded.questions) != benchmark.rows:
        raise ValueError(f"benchmark {name!r}: rows: {benchmark.rows} stated, but its source gives {len(loaded.questions)}")
    return loaded


def _generated(benchmark: GeneratedBenchmark) -> Loaded:
    from ttrlab.benchmarks.lab import questions

    rows = questions(benchmark)
    return Loaded(
        questions=tuple(question for question, _, _ in rows),
        gold={question.id: answer for question, answer, _ in rows},
        tags={question.id: dict(tags) for question, _, tags in rows},
    )


def _arithmetic(benchmark: ArithmeticBenchmark) -> Loaded:
    rows = arithmetic.questions(benchmark, benchmark.rows)
    return Loaded(
        questions=tuple(question for question, _ in rows),
        gold={question.id: answer for question, answer in rows},
        tags={question.id: {} for question, _ in rows},
    )


def _from_rows(name: str, benchmark: HubBenchmark | PathBenchmark) -> Loaded:
    if isinstance(benchmark, HubBenchmark):
        rows, source = hub_rows(benchmark), f"{benchmark.id}/{benchmark.hub_split}"
    else:
        rows, source = read_rows(Path(benchmark.path)), Path(benchmark.path).stem
    check_columns(rows, [*_named(benchmark.columns), *benchmark.where])
    kept = [row for row in rows if all(str(row.values[column]) == str(value) for column, value in benchmark.where.items())]
    if not kept:
        raise ValueError(f"benchmark {name!r}: none of {len(rows)} rows of {source} has {benchmark.where or 'a question'}")
    items = unique([to_item(row, benchmark.columns, benchmark.kind, source, benchmark.seed) for row in kept], benchmark.duplicates)
    if benchmark.split is None:
        return _loaded(items, {})
    parts = split_items(items, benchmark.split, name)
    return _loaded(parts[benchmark.split.use], {part: tuple(item.id for item in members) for part, members in parts.items()})


def _loaded(items: list[Item] | tuple[Item, ...], parts: dict[str, tuple[str, ...]]) -> Loaded:
    return Loaded(
        questions=tuple(item.question for item in items),
        gold={item.id: item.answer for item in items},
        tags={item.id: item.tags for item in items},
        parts=parts,
    )


def _named(columns: Columns) -> list[str]:
    optional = (columns.id, columns.level, columns.subject)
    return [columns.question, columns.answer, *columns.options, *(column for column in optional if column is not None)]
