"""What a response answers: boxes first, then, when asked, phrases; letters and integers by their kind."""

import pytest

from ttrlab.grading import extract


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("first \\boxed{1}, then \\boxed{2}", "2"),
        ("\\boxed{1} and an open \\boxed{2", "1"),
        ("\\boxed{\\boxed{5}", "5"),
        ("\\boxed{} after \\fbox{7}", "7"),
        ("\\boxed{\\left\\{1,2\\right\\}}", "\\left\\{1,2\\right\\}"),
        ("\\boxed{\\left\\{ x \\right.}", "\\left\\{ x \\right."),
        ("\\boxed 5 $", "5"),
        ("escaped twice: \\\\boxed{8}", "8"),
        ("\\boxed{}", None),
        ("\\boxed{5\\}", None),
        ("the answer is 5", None),
    ],
)
def test_last_closed_box_wins(text: str, expected: str | None) -> None:
    assert extract(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The answer is 42.", "42"),
        ("The answer is -3.5.", "-3.5"),
        ("The final answer is: $\\frac34$. I hope it is correct.", "\\frac34"),
        ("work\n#### 73", "73"),
        ("<answer>3</answer> no, <answer>4</answer>", "4"),
        ("**Final Answer**\n\n42", "42"),
        ("**Answer:** 17", "17"),
        ("a box \\boxed{9} beats the answer is 8", "9"),
        ('{"final_answer": "42"}', "42"),
        ('{"answer": 42}', "42"),
        ("The final answer is $x = 2$ or $x = 3$.", "x = 2, x = 3"),
        ("The answer is 0.5 (or 1/2).", "0.5"),
        ("\\textbf{Answer: } 9", "9"),
        ("#### Step 1\nwork\nThe answer is 7.", "7"),
        ("nothing here", None),
    ],
)
def test_phrases_are_read_when_asked(text: str, expected: str | None) -> None:
    assert extract(text, fallback="phrase") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Let f(A) = B. Answer: C\nsince f(A) = D", "C"),
        ("\\boxed{\\textbf{(E)}\\ 42}", "E"),
        ("\\boxed{A+B}", None),
        ("Answer: A or B", None),
        ("A triangle has an area", None),
        ("so\n(D)", "D"),
        ("D. Paris", "D"),
        ("Option C is correct.", "C"),
    ],
)
def test_a_choice_is_one_letter_or_none(text: str, expected: str | None) -> None:
    assert extract(text, kind="choice", fallback="phrase") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("\\boxed{042}", "42"), ("\\boxed{1,024}", "1024"), ("\\boxed{n = 12}", "12"), ("\\boxed{\\frac12}", None), ("\\boxed{2,3}", None)],
)
def test_an_integer_is_printed_in_digits(text: str, expected: str | None) -> None:
    assert extract(text, kind="integer") == expected


def test_extraction_is_linear_in_a_million_characters_of_open_boxes() -> None:
    assert extract("\\boxed{" * 150_000 + "1}") == "1"


def test_another_kind_or_fallback_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="kind is 'word'"):
        extract("x", kind="word")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fallback is 'all'"):
        extract("x", fallback="all")  # type: ignore[arg-type]
