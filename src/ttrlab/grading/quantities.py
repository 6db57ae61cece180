"""The parser's quantities: numbers with currency signs, percent signs, degree marks and units; phrases of words."""

import re

from ttrlab.grading.primary import Primary
from ttrlab.grading.tree import Node, number

RELATIONS = {"=": "=", "==": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "!=": "!=", "le": "<=", "ge": ">=", "ne": "!=", "equiv": "==",
             "in": "in", "approx": "~", "sim": "~", "colon": ":", "to": "->", "->": "->", "Rightarrow": "->"}  # fmt: skip
CLAUSE_ENDS = frozenset((",", ";", ")", "]", "}", "|", "and", "or", "land", "lor"))
SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_LETTER_UNITS = re.compile(r"(?:[mgsLNJWVK]|Omega)(?:\^\{?-?\d\}?)?(?:[/*]?(?:kg|[mgsLNJWVK])(?:\^\{?-?\d\}?)?)*")
_NUMERAL = re.compile(r"-?(?:[\d.]+(?:/\d+)?|\d*frac\{?\d+\}?\{?\d+\}?)(?:\*10\^\{?-?\d+\}?)?")
NUMERAL_STARTS = (CLAUSE_ENDS - {"}"}) | {"=", "approx", "sim"}
CURRENCIES = {"€": "euro", "£": "sterling", "¥": "yen", "₹": "rupee"}


class Quantities(Primary):
    """A sum with what it counts."""

    def quantity(self) -> Node:
        """A sum with its currency sign, percent sign, degree mark or unit; or a phrase of words."""
        unit = ""
        if self.take("dollar", "text"):
            unit = "dollar"
        elif self.peek_text() in CURRENCIES:
            unit = CURRENCIES[self.next().text]
        negative = not unit and self.peek_text() == "-" and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].text == "dollar"
        if negative:
            self.at += 2
            unit = "dollar"
        if self.starts_phrase():
            return Node("word", text=self.phrase())
        value = self.stacked()
        value = Node("neg", (value,)) if negative else value
        if self.take_degree():
            unit = "degree"
            if self.peek_text() in ("C", "F"):
                unit = "degree " + self.next().text.lower()
        elif self.take("%"):
            unit = "percent"
        elif self.peek_text() == "dollar" or self.peek_text() in CURRENCIES:
            unit = CURRENCIES.get(self.peek_text(), self.peek_text())
            self.at += 1
        if self.peek_kind() == "word" and self.peek_text().lower() in SCALES:
            value = Node("mul", (value, number(SCALES[self.next().text.lower()])))
        if self.ratio_word():
            return Node("quantity", (value,), unit) if unit else value
        if self.letter_unit():
            return Node("quantity", (value,), self.phrase())
        if self.peek_kind() == "word" or (self.peek_kind() == "mark" and self.peek_text() == "/" and unit):
            if self.peek_text().lower() == "base":
                self.at += 1
                return Node("base", text=f"{self.tokens[self.at - 2].text}_{self.raw_group()}")
            text = self.phrase()
            unit = unit if unit in ("percent", "dollar") else (unit + " " + text).strip()
        return Node("quantity", (value,), unit) if unit else value

    def stacked(self) -> Node:
        """A sum, or two above each other: ``a \\over b``, ``n \\choose k``."""
        value = self.sum()
        if self.peek_kind() == "command" and self.peek_text() in ("over", "choose"):
            kind = self.next().text
            return Node("div", (value, self.sum())) if kind == "over" else Node("func", (value, self.sum()), "binom")
        return value

    def letter_unit(self) -> bool:
        """Whether the rest of the clause is a numeral, a space and one-letter units as in ``9.8 m/s^2``: then it is no product."""
        token = self.peek()
        if token is None or not token.spaced or not self.numeral_before():
            return False
        rest = ""
        for ahead in self.tokens[self.at : self.at + 12]:
            if ahead.text in CLAUSE_ENDS and not (ahead.text == "}" and rest.count("{") > rest.count("}")):
                break
            rest += ahead.text
        return bool(_LETTER_UNITS.fullmatch(rest))

    def numeral_before(self) -> bool:
        """Whether the clause so far is a number, a fraction of numbers or one in scientific notation."""
        start = self.at
        while start and self.tokens[start - 1].text not in NUMERAL_STARTS:
            start -= 1
        return start < self.at and bool(_NUMERAL.fullmatch("".join(t.text for t in self.tokens[start : self.at])))

    def ratio_word(self) -> bool:
        """Whether ``to`` and a number follow, as in "2 to 5"."""
        ahead = self.tokens[self.at : self.at + 2]
        return len(ahead) == 2 and ahead[0].kind == "word" and ahead[0].text == "to" and ahead[1].kind == "number"

    def starts_phrase(self) -> bool:
        """Whether words begin here: a word, or a letter that a word follows."""
        if self.peek_kind() == "word":
            return len(self.peek_text()) > 1
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        return self.peek_kind() == "symbol" and after is not None and after.kind == "word" and after.spaced

    def phrase(self) -> str:
        """Everything up to the end of the clause, as text; braces of exponents stay with it."""
        parts: list[str] = []
        while self.peek() is not None and (self.peek_text() not in CLAUSE_ENDS or (self.peek_text() == "}" and "{" in parts)):
            if self.peek_kind() != "word" and (self.peek_text() in RELATIONS or (self.peek_text() == ":" and not self.in_set)):
                break
            parts.append(self.next().text)
        return " ".join(parts)
