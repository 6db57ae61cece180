"""Tables in three formats: nothing in a cell can end the cell, the row or the table."""

import re
import shutil
import subprocess

import pandas as pd
import pytest

from ttrlab.report.latex import escape, latex
from ttrlab.report.tables import markdown, write

HOSTILE = 'a_b & 50% #1 $x^2$ {~} \\input{/etc/passwd} | < > "q"\nnext −3 ± 1 \u200b é'


def table() -> pd.DataFrame:
    return pd.DataFrame({"method & co": [HOSTILE, "core"], "value_%": [1.5, None]})


def unescaped(text: str) -> list[str]:
    """Special characters that LaTeX would act on, outside the commands that ``escape`` writes."""
    return re.findall(r"(?<!\\)[&%#_$]", re.sub(r"\$[-+]\$|\$\\(pm|cdot|times|geq|leq)\$", "", text))


def test_every_special_character_is_escaped():
    text = escape(HOSTILE)
    assert unescaped(text) == []
    assert r"\input" not in text
    assert r"\textbackslash{}input\{/etc/passwd\}" in text
    assert "\n" not in text
    assert r"\texttt{U+200B}" in text
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0


def test_rows_have_as_many_cells_as_there_are_columns_and_environments_close():
    text = latex(table(), "50 % of a_b", "x")
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and not line.startswith(r"\caption")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [1] * 4
    assert re.findall(r"\\(begin|end)\{(\w+)\}", text) == [("begin", "longtable"), ("end", "longtable")]


def test_a_bar_or_a_line_break_stays_in_its_markdown_cell():
    body = markdown(table(), "caption").splitlines()
    assert len(body) == 6
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in body[2:]] == [3] * 4


def test_three_files_a_table(tmp_path):
    write(tmp_path / "t", table(), "caption")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.md", "t.tex"]
    assert pd.read_csv(tmp_path / "t.csv")["method & co"][0] == HOSTILE


def test_the_table_compiles(tmp_path):
    engine = next((name for name in ("tectonic", "pdflatex", "lualatex", "xelatex") if shutil.which(name)), None)
    if engine is None:
        pytest.skip("no LaTeX on this machine (Debian: apt-get install texlive-latex-recommended)")
    body = latex(table(), "caption", "t")
    (tmp_path / "t.tex").write_text(
        f"\\documentclass{{article}}\\usepackage[T1]{{fontenc}}\\usepackage{{booktabs,longtable}}\\begin{{document}}{body}\\end{{document}}"
    )
    options = [] if engine == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    subprocess.run([engine, *options, "t.tex"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
