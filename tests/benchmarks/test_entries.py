"""Every hub entry of the shipped catalogue loads invented rows of its documented columns, and stands in docs/benchmarks.md."""

import re
from pathlib import Path

import pytest

from ttrlab.benchmarks import load_benchmark
from ttrlab.config.catalogue import KINDS, HubBenchmark, read_yaml

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = {
    name: entry
    for path in sorted((ROOT / "config/benchmarks").glob("*.yaml"))
    for name, entry in KINDS["benchmarks"].validate_python(read_yaml(path)).items()
    if isinstance(entry, HubBenchmark)
}
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([\d,]+) \| ([^|]+) \|", re.MULTILINE)
TABLE = {
    (m[1], m[2].strip().replace("`", ""), m[3].strip().replace("`", "")): m for m in ROW.finditer((ROOT / "docs/benchmarks.md").read_text())
}


def columns_of(entry):
    """Column names of the data set by the documented table, and its number of rows."""
    found = TABLE[entry.id, entry.config or "-", entry.hub_split]
    return re.findall(r"`([^`]+)`", found[4]), int(found[5].replace(",", ""))


def invented(entry):
    """Rows with the documented columns; level and subject vary, every text differs from every other in words."""
    names, rows = columns_of(entry)
    letters = "abcdefghijklmnopqrstuvwxyz"

    def word(i):
        return "".join(letters[i // 26**k % 26] for k in range(3))

    return [{name: f"{name} {word(i)}" if name != "level" else i % 5 + 1 for name in names} for i in range(rows)]


@pytest.mark.parametrize("name", ENTRIES)
def test_a_hub_entry_fits_the_documented_columns_and_rows(monkeypatch, name):
    entry = ENTRIES[name]
    monkeypatch.setattr("datasets.load_dataset", lambda *_, **__: invented(entry))
    if entry.where:  # the invented levels are even, the real ones are not
        entry = entry.model_copy(update={"rows": entry.rows if entry.split else columns_of(entry)[1] // 5})
    loaded = load_benchmark(name, entry)
    assert len(loaded.questions) == entry.rows
    assert set(loaded.gold.values()) <= set("ABCD") if entry.kind == "choice" else all(loaded.gold.values())


@pytest.mark.parametrize("name", ENTRIES)
def test_a_hub_entry_is_pinned_to_the_documented_commit(name):
    entry = ENTRIES[name]
    assert re.fullmatch("[0-9a-f]{40}", entry.revision)
    assert entry.revision in (ROOT / "docs/benchmarks.md").read_text()


def test_gpqa_items_are_never_published():
    assert not ENTRIES["gpqa-diamond"].publishable


def test_the_table_says_that_no_hub_data_set_was_downloaded_here():
    assert all("never downloaded here" in row[6] for row in TABLE.values())


@pytest.mark.parametrize("parts", [("math-fit", "math-calibration", "math370"), ("math-l5-fit", "math-l5-calibration", "math-l5-600")])
def test_source_calibration_and_target_are_parts_of_one_split(parts):
    fit, calibration, target = (ENTRIES[name] for name in parts)
    assert {entry.split.use for entry in (fit, calibration, target)} == {"fit", "calibration", "target"}
    for entry in (fit, calibration, target):
        assert entry.rows == entry.split.parts[entry.split.use]
        assert entry.model_dump(exclude={"rows", "split"}) == target.model_dump(exclude={"rows", "split"})
        assert (entry.split.seed, entry.split.parts) == (target.split.seed, target.split.parts)
