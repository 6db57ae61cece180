"""``ttrlab answers``: verdict and reason on a line; one line a response."""

from pathlib import Path

import pytest

from ttrlab.stages.answers import equal_command, extract_command


def test_equal_prints_the_verdict_and_the_reason() -> None:
    assert equal_command("0.5", "\\frac12") == "YES: same key: 1/2"
    assert equal_command("52 base 8", "52 base 9").startswith("NO: ")


def test_extract_prints_each_answer_with_its_source_and_the_count(tmp_path: Path) -> None:
    file = tmp_path / "responses.jsonl"
    file.write_text('{"text": "\\\\boxed{5}"}\n{"response": "The answer is 6."}\n"none"\n', encoding="utf-8")
    lines = extract_command(file).splitlines()
    assert lines[:3] == ["1\t5\tbox", "2\t6\tphrase", "3\t-\tno box and no phrase"]
    assert lines[3] == "1 of 3 responses have a boxed answer"


def test_a_row_without_a_response_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"other": 1}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="row 1 has no response"):
        extract_command(file)


def test_a_file_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "responses.txt"
    path.write_bytes(b"\\boxed{1} caf\xe9")
    with pytest.raises(ValueError, match=r"responses\.txt: not UTF-8"):
        extract_command(path)
