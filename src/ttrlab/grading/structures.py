"""The parser's groups: brackets, sets, matrices, bars, function calls; and its cursor."""

from ttrlab.grading.constants import CLOSERS, GREEK, STARTERS, UNARY
from ttrlab.grading.limits import Refused
from ttrlab.grading.tokens import Token
from ttrlab.grading.tree import Node


class Structures:
    """Cursor and groups. ``bars`` counts open absolute values, ``in_set`` says that a bar or colon ends a builder's head."""

    tokens: list[Token]
    at: int
    depth: int
    bars: int
    in_set: bool = False
    in_function: int = 0

    def statement(self) -> Node:
        """See Parser."""
        raise NotImplementedError

    def sum(self) -> Node:
        """See Parser."""
        raise NotImplementedError

    def factor(self) -> Node:
        """See Primary."""
        raise NotImplementedError

    def exponent(self) -> Node:
        """See Primary."""
        raise NotImplementedError

    def term(self) -> Node:
        """See Parser."""
        raise NotImplementedError

    def argument(self) -> Node:
        """See Primary."""
        raise NotImplementedError

    def matrix(self) -> Node:
        """See Calls."""
        raise NotImplementedError

    def peek(self) -> Token | None:
        """The next token, or None at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def peek_text(self) -> str:
        """Text of the next token, empty at the end."""
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def peek_kind(self) -> str:
        """Kind of the next token, empty at the end."""
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def next(self) -> Token:
        """Consume a token. Refused at the end."""
        if self.at >= len(self.tokens):
            raise Refused("the answer ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, *texts: str) -> bool:
        """Consume the next token when it is one of these."""
        if self.at < len(self.tokens) and self.tokens[self.at].text in texts and self.tokens[self.at].kind != "word":
            self.at += 1
            return True
        return False

    def group(self, closer: str) -> Node:
        """A statement up to ``closer``."""
        bars, in_set, self.bars, self.in_set = self.bars, self.in_set, 0, False
        value = self.statement()
        if not self.take(closer):
            raise Refused(f"no closing {closer!r}")
        self.bars, self.in_set = bars, in_set
        return value

    def raw_group(self) -> str:
        """The plain text of a braced group or of one token."""
        if not self.take("{"):
            return self.next().text
        parts = []
        while not self.take("}"):
            token = self.next()
            if token.text == "{":
                raise Refused("a group in a subscript")
            parts.append(token.text)
        return "".join(parts)

    def degree_ahead(self) -> bool:
        """Whether ``^\\circ`` or ``^{\\circ}`` follows."""
        ahead = [t.text for t in self.tokens[self.at + 1 : self.at + 3]]
        return ahead[:1] == ["circ"] or ahead == ["{", "circ"]

    def take_degree(self) -> bool:
        """Consume a degree mark when one follows."""
        if self.peek_text() == "^" and self.degree_ahead():
            self.at += 2
            if self.tokens[self.at - 1].text == "{":
                self.at += 2
            return True
        return False

    def starts_factor(self) -> bool:
        """Whether the next token may start a factor of a product without a sign."""
        token = self.peek()
        if token is None:
            return False
        if token.kind in ("number", "symbol"):
            return not (token.kind == "number" and self.tokens[self.at - 1].kind == "number" and not token.spaced)
        if token.kind == "mark":
            if token.text == "|":
                return self.bars == 0 and not self.in_set
            if token.text == "(":
                return not (self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].text == "mod")
            if token.text == "[":
                after = self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""
                return not token.spaced and after not in ("", ",", ";", ")", "]", "and", "or", "cup", "cap", "setminus")
            return token.text == "{"
        return token.kind == "command" and (token.text in STARTERS or token.text in UNARY or token.text in GREEK)

    def group_or_bars(self, token: Token) -> Node:
        """Parentheses, brackets, plain braces, absolute values, reversed brackets of intervals."""
        self.at += 1
        if token.text == "{":
            if self.builder_ahead():
                return self.set_braces()
            return Node("set") if self.take("}") else self.braced()
        if token.text in ("(", "[", "]"):
            return self.bracketed(token.text)
        if token.text == "|":
            self.bars += 1
            if self.bars > 1:
                raise Refused("bars inside bars")
            value = self.sum()
            self.bars -= 1
            if not self.take("|"):
                raise Refused("no closing bar")
            return Node("func", (value,), "abs")
        raise Refused(f"unexpected {token.text!r}")

    def builder_ahead(self) -> bool:
        """Whether plain braces that open an answer or a side hold ``x | ...``."""
        before = self.tokens[self.at - 2].text if self.at > 1 else "="
        ahead = [t.text for t in self.tokens[self.at : self.at + 2]]
        return before in ("=", "in") and len(ahead) == 2 and ahead[0].isalpha() and ahead[1] in ("|", ":", "in")

    def braced(self) -> Node:
        """Plain braces: a group, or a set when it has commas."""
        value = self.group("}")
        return Node("set", value.args) if value.kind == "list" else value

    def bracketed(self, opener: str) -> Node:
        """A tuple, an interval, a list, or a group in parentheses."""
        if opener == "(" and self.take(")"):
            return Node("seq", (), "()")
        if opener == "[" and self.take("]"):
            return Node("seq", (), "[]")
        bars, in_set, self.bars, self.in_set = self.bars, self.in_set, 0, False
        value = self.statement()
        closer = self.next().text
        self.bars, self.in_set = bars, in_set
        if closer not in (")", "]", "["):
            raise Refused(f"a bracket closed by {closer!r}")
        left = "[" if opener == "[" else "("
        right = "]" if closer == "]" else ")"
        if value.kind == "list":
            return Node("seq", value.args, left + right)
        if left + right == "()":
            return value
        if left + right == "[]":
            return Node("seq", (value,), "[]")
        raise Refused("half-open brackets around one value")

    def structure(self, name: str) -> Node:
        """Sets, floors, ceilings, angle brackets, norms, matrices."""
        if name == "{":
            return self.set_braces()
        if name == "begin":
            return self.matrix()
        if name == "|":
            value = self.sum()
            if not self.take("|"):
                raise Refused("no closing norm")
            return Node("func", (value,), "abs")
        closer, kind = CLOSERS[name]
        value = self.group(closer)
        if kind == "seq":
            return Node("seq", value.args if value.kind == "list" else (value,), "()")
        return Node("func", (value,), kind)

    def set_braces(self) -> Node:
        """``\\{a, b\\}`` or a builder ``\\{x : x > 2\\}``, which stands for its condition."""
        if self.take("}"):
            return Node("set")
        bars, in_set, self.bars, self.in_set = self.bars, self.in_set, 0, True
        value = self.statement()
        self.bars, self.in_set = bars, in_set
        if self.take("|", ":"):
            condition = self.group("}")
            return Node("builder", (value, condition))
        if not self.take("}"):
            raise Refused("no closing brace of a set")
        return Node("set", value.args if value.kind == "list" else (value,))
