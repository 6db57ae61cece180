import json

import pandas as pd
import pytest

from tests.benchmarks.rows import math_rows, write_jsonl
from ttrlab.benchmarks.sources import read_rows


def test_the_same_table_reads_alike_from_every_kind_of_file(tmp_path):
    rows = math_rows()
    write_jsonl(tmp_path / "t.jsonl", rows)
    (tmp_path / "t.json").write_text(json.dumps(rows))
    pd.DataFrame(rows).to_parquet(tmp_path / "t.parquet")
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    read = {ending: [dict(row.values) for row in read_rows(tmp_path / f"t.{ending}")] for ending in ("jsonl", "json", "parquet", "csv")}
    assert read["jsonl"] == read["json"] == read["parquet"] == rows
    assert read["csv"] == [{name: str(value) for name, value in row.items()} for row in rows]


def test_blank_lines_are_skipped_and_places_still_name_the_line(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n')
    assert [(row.place, row.number) for row in read_rows(path)] == [(f"{path}, line 1", 0), (f"{path}, line 3", 1)]


def test_a_unicode_line_separator_inside_a_text_does_not_end_the_line(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": "one\u2028two"}\n', encoding="utf-8")
    assert read_rows(path)[0].values == {"a": "one\u2028two"}


def test_a_byte_order_mark_is_not_part_of_the_first_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("problem,answer\nx,1\n", encoding="utf-8-sig")
    assert read_rows(path)[0].values == {"problem": "x", "answer": "1"}


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("t.jsonl", b'{"a": 1}\n{"a": \n', r"t\.jsonl, line 2: not JSON"),
        ("t.jsonl", b'{"a": 1}\n[1]\n', r"t\.jsonl, line 2: expected a JSON object .* got list"),
        ("t.jsonl", b'{"a": 1}\n{"a": "\xff"}\n', r"t\.jsonl, line 2: not UTF-8 .* 0xff"),
        ("t.csv", b"a,b\n1,\xe9\n", r"t\.csv, line 2: not UTF-8"),
        ("t.json", b'{"a": 1}', r"t\.json: expected a JSON list of objects, got dict"),
        ("t.json", b'[{"a": 1},\n 3]', r"t\.json, row 2: expected a JSON object"),
        ("t.json", b"[{", r"t\.json, line 1: not JSON"),
        ("t.json", b"[" * 100_000, r"t\.json: not readable as JSON"),
        ("t.jsonl", b'{"a": 1}\n' + b"[" * 100_000, r"t\.jsonl, line 2: not readable as JSON"),
        ("t.jsonl", b'{"a": ' + b"9" * 5000 + b"}", r"t\.jsonl, line 1: not readable as JSON"),
        ("t.jsonl", b'{"a": 1, "a": 2}', r"t\.jsonl, line 1: not readable as JSON \(an object has the key 'a' twice\)"),
        ("t.json", b'[{"a": 1, "a": 2}]', r"t\.json: not readable as JSON \(an object has the key 'a' twice\)"),
        ("t.csv", b"a,b\n1,2\n1\n", r"t\.csv, row 2: 1 fields, but the header has 2 columns"),
        ("t.csv", b"a,a\n1,2\n", r"t\.csv: the header names a column twice"),
        ("t.csv", b'a,b\n"1,2\n', r"t\.csv, line 2: not CSV"),
        ("t.parquet", b"not parquet", r"t\.parquet: not a parquet file"),
        ("t.xlsx", b"", r"expected a file ending in \.jsonl, \.json, \.csv, \.parquet, got '\.xlsx'"),
    ],
)
def test_what_cannot_be_read_is_named_by_file_and_row(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_rows(tmp_path / name)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"gone\.jsonl: no such file"):
        read_rows(tmp_path / "gone.jsonl")
