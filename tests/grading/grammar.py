"""A generator of answer-like strings: right ones, broken ones, and mixtures."""

import random

LEAVES = [
    "0",
    "1",
    "2",
    "17",
    "0.5",
    ".25",
    "1,000",
    "x",
    "y",
    "n",
    "\\pi",
    "e",
    "i",
    "\\infty",
    "\\theta",
    "½",
    "π",
    "√2",
    "3²",
    "10^{10}",
    "45^\\circ",
    "\\text{cm}",
    "\\$5",
    "28\\%",
    "2 2/3",
    "\\emptyset",
    "\\mathbb{R}",
    "8:30",
    "12_7",
    "north",
    "2e5",
    "0.\\overline{3}",
    "９",
    "−4",
]
UNARY = [
    "-{}",
    "\\sqrt{{{}}}",
    "({})",
    "[{}]",
    "\\{{{}\\}}",
    "|{}|",
    "\\frac1{{{}}}",
    "{}!",
    "\\sin {}",
    "\\ln({})",
    "{}^2",
    "{}^{{-1}}",
    "\\pm {}",
    "\\left({}\\right)",
    "\\text{{{}}}",
    "$ {} $",
    "x = {}",
    "\\arctan {}",
    "\\lfloor {}\\rfloor",
    "{} \\text{{ cm}}",
    "\\log_2 {}",
    "({}",
]
BINARY = [
    "{}+{}",
    "{}-{}",
    "{}*{}",
    "{}{}",
    "{}/{}",
    "\\frac{{{}}}{{{}}}",
    "{}^{{{}}}",
    "({},{})",
    "[{},{})",
    "{}, {}",
    "{}={}",
    "{}<{}",
    "{} \\cup {}",
    "{} \\le {}",
    "{} or {}",
    "{}:{}",
    "{} \\equiv {} \\pmod 7",
    "\\binom{{{}}}{{{}}}",
    "\\begin{{pmatrix}}{} & {}\\end{{pmatrix}}",
    "{}\\pm{}",
]
NOISE = [*list("{}()[]|\\$^_,;:!'\"&%#~<>=+-*/ ."), "\\frac", "\\left", "\\right", "\\\\", "\\begin{", "\x00", "∑", "😀"]


def expression(draw: random.Random, depth: int) -> str:
    """A string of the grammar."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(LEAVES)
    if draw.random() < 0.45:
        return draw.choice(UNARY).format(expression(draw, depth - 1))
    return draw.choice(BINARY).format(expression(draw, depth - 1), expression(draw, depth - 1))


def answer(draw: random.Random) -> str:
    """A string of the grammar, one in four broken by noise."""
    text = expression(draw, draw.randint(0, 5))
    for _ in range(draw.choice((0, 0, 0, 1, 3))):
        at = draw.randint(0, len(text))
        text = text[:at] + draw.choice(NOISE) + text[at + draw.randint(0, 1) :]
    return text
