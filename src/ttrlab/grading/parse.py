"""Precedence parser: tokens of one answer to a tree. What it does not know it refuses; nothing is ever evaluated as code."""

import itertools

from ttrlab.grading.limits import MAX_DEPTH, Refused
from ttrlab.grading.quantities import RELATIONS, Quantities
from ttrlab.grading.tokens import Token, tokenize
from ttrlab.grading.tree import Node, number

SETS = {"cup": "union", "cap": "inter", "setminus": "minus", "backslash": "minus"}
JOINERS = frozenset(("and", "or", "land", "lor", "&"))


def parse(text: str) -> Node:
    """The tree of a spelled answer. Refused outside the grammar or beyond a cap."""
    parser = Parser(tokenize(text))
    tree = parser.statement()
    if parser.at < len(parser.tokens):
        raise Refused(f"unexpected {parser.tokens[parser.at].text!r}")
    return tree


class Parser(Quantities):
    """Recursive descent over the tokens; ``depth`` counts open groups."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.bars = 0

    def statement(self) -> Node:
        """Clauses joined by commas, semicolons, ``and``, ``or``: a list when there are several.

        Where semicolons part groups of clauses, each group is a list of its own.
        """
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Refused(f"nested deeper than {MAX_DEPTH}")
        clauses, joined, starts = [self.clause()], "", [0]
        while self.peek_text() in (",", ";") or self.peek_text() in JOINERS:
            word = ""
            if self.take(";"):
                starts.append(len(clauses))
            self.take(",")
            while self.peek_text() in JOINERS:
                word = self.next().text
            joined = joined or word
            if self.peek() is None and not word:
                break
            clauses.append(self.clause())
        self.depth -= 1
        if 1 < len(starts) < len(clauses):
            groups = [clauses[a:b] for a, b in itertools.pairwise([*starts, len(clauses)])]
            return Node("list", tuple(Node("list", tuple(group)) for group in groups), ";")
        return clauses[0] if len(clauses) == 1 else Node("list", tuple(clauses), joined)

    def clause(self) -> Node:
        """A value, a chain of relations, a congruence or a ratio."""
        operands = [self.set_value()]
        signs: list[str] = []
        while self.peek() is not None:
            sign = RELATIONS.get(self.peek_text()) if self.peek_kind() != "symbol" else None
            if self.ratio_word() or (sign is None and self.peek_text() == ":" and not self.in_set):
                sign = ":"
            if sign is None:
                break
            self.at += 1
            if sign == ":" and not signs and operands[0].kind == "word" and self.peek_kind() != "word":
                sign = "="
            if sign in "<>" and self.take("="):
                sign += "="
            signs.append(sign)
            operands.append(self.set_value())
        modulus = self.modulus()
        if modulus is not None:
            return self.congruence(operands, signs, modulus)
        sides: list[list[Node]] = [[operands[0]]]
        for sign, operand in zip(signs, operands[1:], strict=True):
            if sign == ":":
                sides[-1].append(operand)
            else:
                sides.append([operand])
        values = tuple(side[0] if len(side) == 1 else Node("ratio", tuple(side)) for side in sides)
        return values[0] if len(values) == 1 else Node("rel", values, " ".join(s for s in signs if s != ":"))

    def modulus(self) -> Node | None:
        """``(mod m)``, ``\\pmod m`` or ``mod m`` after a value."""
        at, opened = self.at, self.take("(")
        if not self.take("mod"):
            self.at = at
            return None
        value = self.sum()
        if opened and not self.take(")"):
            raise Refused("unclosed modulus")
        return value

    def congruence(self, operands: list[Node], signs: list[str], modulus: Node) -> Node:
        """``n = a (mod m)`` with the label, or ``a (mod m)`` without."""
        if len(operands) > 2 or (signs and signs[0] not in ("==", "=")):
            raise Refused("a chain of congruences")
        return Node("mod", (operands[-1], modulus, *operands[:-1]))

    def set_value(self) -> Node:
        """Values joined by union, intersection or difference, from the left."""
        value = self.quantity()
        while self.peek_text() in SETS and self.peek_kind() == "command":
            kind = SETS[self.next().text]
            value = Node(kind, (value, self.quantity()))
        return value

    def sum(self) -> Node:
        """Terms joined by plus, minus and plus-minus."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Refused(f"nested deeper than {MAX_DEPTH}")
        first = self.sign()
        terms = [first]
        while True:
            if self.take("+"):
                terms.append(self.term() if self.peek_text() not in ("-", "+") else self.sign())
            elif self.take("-"):
                terms.append(Node("neg", (self.term() if self.peek_text() not in ("-", "+") else self.sign(),)))
            elif self.peek_kind() == "command" and self.peek_text() in ("pm", "mp"):
                sign = self.next().text
                terms.append(Node("pm", (self.term(),), sign))
            else:
                break
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Node("add", tuple(terms))

    def sign(self) -> Node:
        """A term with its leading signs, read in a loop: a thousand signs need no stack."""
        negative, both = False, False
        while True:
            if self.take("-"):
                negative = not negative
            elif self.take("+"):
                if self.take("/"):
                    if not self.take("-"):
                        raise Refused("'+/' without '-'")
                    both = True
            elif self.peek_kind() == "command" and self.peek_text() in ("pm", "mp"):
                self.at += 1
                both = True
            else:
                break
        value = self.term()
        if both:
            return Node("pm", (value,), "pm")
        return Node("neg", (value,)) if negative else value

    def term(self) -> Node:
        """Factors joined by ``*``, ``/`` or nothing; a slash divides by the next factor alone."""
        value = self.factor()
        while True:
            if self.take("*"):
                value = Node("mul", (value, self.signed_factor()))
            elif self.take("/"):
                value = Node("div", (value, self.signed_factor()))
            elif self.starts_factor() and not self.letter_unit():
                value = self.juxtapose(value)
            else:
                return value

    def signed_factor(self) -> Node:
        """A factor that may carry a sign, as in ``2/-3``."""
        negative = False
        while self.peek_text() in ("-", "+"):
            negative ^= self.next().text == "-"
        value = self.factor()
        return Node("neg", (value,)) if negative else value

    def juxtapose(self, left: Node) -> Node:
        """A product without a sign; an integer before a proper fraction of integers is a mixed number."""
        start = self.at
        spaced = self.tokens[start].spaced
        digits_meet = self.peek_kind() == "number" and self.tokens[start - 1].kind == "number"
        right = self.factor()
        integer = left.kind == "num" and left.digits is None and left.number is not None and left.number.denominator == 1
        if integer and right.kind == "num" and spaced and self.peek_text() == "/":
            after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
            if after is not None and after.kind == "number" and right.digits is None:
                self.at += 1
                right = Node("div", (right, self.factor()))
        if right.kind == "num" and (digits_meet or (left.kind == "num" and (spaced or self.tokens[start].text != "("))):
            raise Refused("two numbers side by side")
        if integer and right.kind == "div" and all(p.kind == "num" and p.digits is None and p.number is not None for p in right.args):
            top, bottom = (p.number for p in right.args)
            if top is not None and bottom is not None and 0 <= top < bottom and top.denominator == bottom.denominator == 1:
                assert left.number is not None
                return number(left.number + top / bottom)
        return Node("mul", (left, right))
