"""One test for each line of the table of conventions in docs/grading.md, and the development cases."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ttrlab.grading import Verdict, classes, equal, explain, normalize

YES = [
    ("percent sign dropped", "28\\%", "28"),
    ("percent as a hundredth", "28\\%", "0.28"),
    ("unit dropped", "5\\text{ cm}", "5"),
    ("units convert", "100 cm", "1 m"),
    ("currency dropped", "\\$5", "5"),
    ("degree mark dropped", "90^\\circ", "90"),
    ("degrees as radians", "90^\\circ", "\\frac{\\pi}{2}"),
    ("label dropped", "x=5", "5"),
    ("list without brackets in any order", "1,-2", "-2,1"),
    ("list as a set", "\\{1,2\\}", "2,1"),
    ("set ignores repetition", "\\{1,1,2\\}", "\\{1,2\\}"),
    ("plus-minus as two values", "1\\pm\\sqrt2", "1+\\sqrt2,1-\\sqrt2"),
    ("interval as inequality", "x\\ge 5", "[5,\\infty)"),
    ("ratio reduced", "2:4", "1:2"),
    ("ratio as a number", "1:2", "\\frac12"),
    ("matrix brackets", "\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin{bmatrix}1\\\\2\\end{bmatrix}"),
    ("long decimal", "0.333333333333", "\\frac13"),
    ("letter with its text", "(C) 42", "C"),
    ("case of words", "\\text{East}", "east"),
    ("number words", "five", "5"),
    ("log is to base 10", "\\log 100", "2"),
    ("no solution is the empty set", "\\text{no solution}", "\\emptyset"),
    ("equations up to a factor", "2x+4y=6", "x+2y=3"),
    ("mixed number", "3\\frac17", "\\frac{22}{7}"),
    ("labelled values as a tuple", "x=1, y=2", "(1,2)"),
    ("unit of several letters dropped", "9.8 m/s^2", "9.8"),
    ("residue without its modulus", "x \\equiv 3 \\pmod 7", "3"),
    ("arguments of gcd in any order", "\\gcd(m,n)", "\\gcd(n,m)"),
    ("announcement dropped", "so, the answer is 12", "12"),
    ("infinity in words", "negative infinity", "-\\infty"),
    ("letters side by side are a product", "pq", "qp"),
    ("real odd root", "\\sqrt[3]{-8}", "-2"),
    ("bars over Unicode digits", "0.1̅6̅", "\\frac{16}{99}"),
    ("minutes of an angle", "45^\\circ 30'", "45.5^\\circ"),
    ("unit as a fraction", "60 \\frac{\\text{km}}{\\text{h}}", "60 km/h"),
    ("unit with a negative power", "9.8 m s^{-2}", "9.8 m/s^2"),
    ("amount in two units", "5 dollars and 25 cents", "\\$5.25"),
    ("pounds of money", "£18", "18 pounds"),
    ("date in digits", "2020-03-05", "March 5, 2020"),
    ("hour in words", "noon", "12:00 PM"),
    ("row transposed", "(1,2)^T", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
    ("name of an integer parameter", "k\\pi, k\\in\\mathbb{Z}", "n\\pi, n\\in\\mathbb{Z}"),
    ("one value said twice", "\\frac34 \\text{ or } 0.75", "0.75"),
    ("equation between equal numbers", "\\frac34 = 0.75", "0.75"),
    ("set-builder in plain braces", "{x | x ≠ 2}", "x \\ne 2"),
    ("exception in words", "all real numbers except 2", "x \\ne 2"),
    ("half-open with reversed bracket", "[0,5[", "[0,5)"),
    ("approximation in words", "approximately 5.2", "5.2"),
    ("letter of a choice in lower case", "b", "(B)"),
]
NO = [
    ("a residue class is not one number", "n \\equiv 1 \\pmod 3", "n = 1"),
    ("a set of sets is not a set of numbers", "\\{\\{1\\},\\{2\\}\\}", "\\{1,2\\}"),
    ("percent is not both", "28", "0.28"),
    ("short decimal is exact", "0.333", "\\frac13"),
    ("rounded pi", "40\\pi", "125.66"),
    ("units differ", "5 cm", "5 m"),
    ("labels differ", "x=5", "y=5"),
    ("tuples are ordered", "(1,2)", "(2,1)"),
    ("list is no tuple", "1,2", "(1,2)"),
    ("base is kept", "52_8", "42"),
    ("other base", "52 base 8", "52 base 9"),
    ("integers are exact", "999999", "1000000"),
    ("factorials", "1/2004!", "1/2006!"),
    ("open or closed", "(1,2)", "[1,2)"),
    ("residue", "n\\equiv 3 \\pmod 5", "n\\equiv 2\\pmod 5"),
    ("right side of an equation", "a^2+b=0", "0"),
    ("near integer", "1+10^{-300}", "1"),
    ("repetition in a list counts", "1,1,2", "1,2"),
    ("case of symbols", "C", "c"),
    ("half of the day", "8:34 AM", "8:34 PM"),
    ("words are no products", "cat", "act"),
    ("accented letters are others", "\\hat{x}", "x"),
    ("finite decimal", "0.99999999", "1"),
    ("scales of temperature", "25°C", "25°F"),
    ("sides 1 m and 150 cm", "1 m and 150 cm", "2.5 m"),
]


@pytest.mark.parametrize(("why", "a", "b"), YES, ids=[row[0] for row in YES])
def test_convention_that_joins(why: str, a: str, b: str) -> None:
    assert equal(a, b) is equal(b, a) is Verdict.YES


@pytest.mark.parametrize(("why", "a", "b"), NO, ids=[row[0] for row in NO])
def test_convention_that_separates(why: str, a: str, b: str) -> None:
    assert equal(a, b) is equal(b, a) is Verdict.NO


def test_all_development_cases_are_right(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "cases" / "equivalence.jsonl").read_text(encoding="utf-8").splitlines()]
    wrong = [row for row in rows if equal(row["a"], row["b"]) is not (Verdict.YES if row["equal"] else Verdict.NO)]
    assert not wrong


def test_a_percent_joins_the_bare_reading_of_its_group_and_never_both() -> None:
    assert classes(["28%", "28"]).tolist() == [0, 0]
    assert classes(["28%", "0.28"]).tolist() == [0, 0]
    assert classes(["0.28", "28", "28%"]).tolist() == [0, 1, 1]


def test_of_two_units_that_claim_one_number_the_more_frequent_joins() -> None:
    assert classes(["5 cm", "5", "5 m", "5 m"]).tolist() == [0, 1, 1, 1]


def test_classes_number_by_first_appearance_and_leave_out_missing_answers() -> None:
    ids = classes([None, "2", "1/2", "0.5", None, "2.0"])
    assert ids.dtype == np.int64
    assert ids.tolist() == [-1, 0, 1, 1, -1, 0]
    assert classes([]).shape == (0,)


def test_reason_names_the_key_and_normalize_prints_it() -> None:
    assert normalize("\\frac{2}{4}") == "1/2"
    assert explain("0.5", "\\frac12")[1] == "same key: 1/2"


def test_import_loads_neither_torch_nor_sympy() -> None:
    code = "import sys, ttrlab.grading as g; g.equal('x+1','1+x'); print({'torch','sympy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "set()"
