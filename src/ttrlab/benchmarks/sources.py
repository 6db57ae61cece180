"""Raw rows of a benchmark: from a JSONL, JSON, CSV or parquet file, or from the Hugging Face hub. Nothing is interpreted here."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttrlab.config.catalogue import HubBenchmark


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ``place`` says where it stands (file and line, or row counted from 1), ``number`` counts from 0, ``values`` by column."""

    place: str
    number: int
    values: Mapping[str, Any]


def read_rows(path: Path) -> list[Row]:
    """All rows of ``path``, read by its ending. ValueError names the file and the row of what cannot be read."""
    readers: dict[str, Callable[[Path], list[Row]]] = {".jsonl": _jsonl, ".json": _json, ".csv": _csv, ".parquet": _parquet}
    if path.suffix not in readers:
        raise ValueError(f"{path}: expected a file ending in {', '.join(readers)}, got {path.suffix or 'no ending'!r}")
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    return readers[path.suffix](path)


def hub_rows(benchmark: HubBenchmark) -> list[Row]:
    """All rows of a hub data set. Downloads it unless it lies in the cache; ``datasets`` is imported only here."""
    import datasets

    table = datasets.load_dataset(benchmark.id, benchmark.config, split=benchmark.hub_split, revision=benchmark.revision)
    return [Row(f"{benchmark.id} ({benchmark.hub_split}), row {n + 1}", n, values) for n, values in enumerate(table)]


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: not UTF-8 (byte {error.start} of the file is 0x{data[error.start]:02x})") from None


def _mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{place}: expected a JSON object with one key a column, got {type(value).__name__}")
    return value


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    doubled = sorted({key for key in keys if keys.count(key) > 1})
    if doubled:
        raise ValueError(f"an object has the key {', '.join(map(repr, doubled))} twice")
    return dict(pairs)


def _jsonl(path: Path) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            value = json.loads(line, object_pairs_hook=_each_key_once)
        except json.JSONDecodeError as error:
            raise ValueError(f"{place}: not JSON ({error.msg} at column {error.colno})") from None
        except (RecursionError, ValueError) as error:
            raise ValueError(f"{place}: not readable as JSON ({error})") from None
        rows.append(Row(place, len(rows), _mapping(value, place)))
    return rows


def _json(path: Path) -> list[Row]:
    text = _text(path)
    try:
        values = json.loads(text, object_pairs_hook=_each_key_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: not JSON ({error.msg} at column {error.colno})") from None
    except (RecursionError, ValueError) as error:
        raise ValueError(f"{path}: not readable as JSON ({error})") from None
    if not isinstance(values, list):
        raise ValueError(f"{path}: expected a JSON list of objects, got {type(values).__name__}")
    places = [f"{path}, row {n + 1}" for n in range(len(values))]
    return [Row(place, n, _mapping(value, place)) for n, (place, value) in enumerate(zip(places, values, strict=True))]


def _csv(path: Path) -> list[Row]:
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        lines = [line for line in reader if line]
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not CSV ({error})") from None
    header, *records = lines or [[]]
    if len(set(header)) != len(header):
        raise ValueError(f"{path}: the header names a column twice: {header}")
    for number, record in enumerate(records, start=1):
        if len(record) != len(header):
            raise ValueError(f"{path}, row {number}: {len(record)} fields, but the header has {len(header)} columns")
    return [Row(f"{path}, row {n + 1}", n, dict(zip(header, record, strict=True))) for n, record in enumerate(records)]


def _parquet(path: Path) -> list[Row]:
    import pyarrow.lib
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except pyarrow.lib.ArrowInvalid as error:
        raise ValueError(f"{path}: not a parquet file ({error})") from None
    return [Row(f"{path}, row {n + 1}", n, values) for n, values in enumerate(table.to_pylist())]
