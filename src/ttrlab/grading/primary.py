"""The parser's smallest pieces: numbers, symbols, groups, functions, postfix marks."""

from fractions import Fraction

from ttrlab.grading.calls import Calls
from ttrlab.grading.constants import ACCENTS, CLOSERS, CONSTANTS, GREEK, SAME_LETTER, UNARY
from ttrlab.grading.limits import MAX_DEPTH, Refused
from ttrlab.grading.tokens import Token
from ttrlab.grading.tree import Node, decimal, number


def shortest_period(text: str) -> tuple[str, str]:
    """A decimal cut before the digits that repeat at its end, and their period: thrice, or twice right after the point; else ``""``."""
    whole, _, digits = text.partition(".")
    for length in range(1, len(digits) // 2 + 1):
        period, rest, times = digits[-length:], digits, 0
        while rest.endswith(period):
            rest, times = rest[:-length], times + 1
        if times >= 3 or (times == 2 and length > 1 and not rest):
            return f"{whole}.{rest}", period
    return text, ""


class Primary(Calls):
    """Factors: a primary with its powers and postfix marks."""

    def factor(self) -> Node:
        """A primary, its postfix marks and its power; powers associate to the right in a loop over the stack's cap."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Refused(f"nested deeper than {MAX_DEPTH}")
        value = self.postfix(self.primary())
        if self.peek_text() == "^" and self.degree_ahead():
            value = self.degrees(value)
        if self.peek_text() == "^" and not self.degree_ahead():
            self.at += 1
            if self.take("'"):
                raise Refused("a primed power")
            value = self.postfix(Node("pow", (value, self.exponent())))
        self.depth -= 1
        return value

    def degrees(self, value: Node) -> Node:
        """A degree mark: an angle in radians inside a function; dropped where the sum goes on; left to the quantity at the end."""
        start = self.at
        self.take_degree()
        if self.in_function:
            return Node("mul", (value, Node("div", (Node("const", text="pi"), number(180)))))
        if self.peek_text() not in ("+", "-", "*", "/"):
            self.at = start
        return value

    def exponent(self) -> Node:
        """What stands after ``^``: a group, or one factor with its sign; without braces one token, as in TeX."""
        if self.take("{"):
            return self.group("}")
        negative = self.take("-")
        value = self.factor() if self.peek_text() != "\\" else self.primary()
        return Node("neg", (value,)) if negative else value

    def postfix(self, value: Node) -> Node:
        """Factorials and repeated digits after a value."""
        while True:
            if self.peek_text() == "!" and self.peek_kind() == "mark":
                self.at += 1
                value = Node("func", (value,), "factorial")
            elif self.peek_text() == "'" and value.kind == "sym":
                self.at += 1
                value = Node("sym", text=value.text + "'")
            else:
                return value

    def primary(self) -> Node:
        """A number, a symbol, a word, a command or a group."""
        token = self.peek()
        if token is None:
            raise Refused("the answer ends too early")
        if token.kind == "number":
            return self.number_token()
        if token.kind == "symbol":
            return self.symbol()
        if token.kind == "word":
            if len(token.text) == 1:
                return self.symbol()
            self.at += 1
            return Node("word", text=token.text)
        if token.kind == "mark":
            return self.group_or_bars(token)
        return self.command()

    def number_token(self) -> Node:
        """Digits with repeating digits and a base, where they follow."""
        text = self.next().text
        if self.peek_text() in ("overline", "bar", "dot") and "." in text:
            return self.repeating(text)
        if self.peek_text() == "_":
            self.at += 1
            base = self.raw_group()
            return Node("base", text=f"{text}_{base}")
        if "." in text and self.peek_text() == "(" and self.repeats_ahead():
            self.at += 1
            period = self.next().text
            self.at += 1
            return self.periodic(text, period)
        if "." in text and self.take_ellipsis():
            head, period = shortest_period(text)
            return self.periodic(head, period) if period else decimal(text)
        return decimal(text)

    def take_ellipsis(self) -> bool:
        """Consume ``...`` or ``\\ldots`` after a number."""
        if self.peek_text() == "ldots" and self.peek_kind() == "command":
            self.at += 1
            return True
        if [t.text for t in self.tokens[self.at : self.at + 3]] == [".", ".", "."]:
            self.at += 3
            return True
        return False

    def repeats_ahead(self) -> bool:
        """Whether ``(digits)`` follows directly, as in ``0.(3)``."""
        ahead = self.tokens[self.at : self.at + 3]
        return len(ahead) == 3 and ahead[1].kind == "number" and ahead[1].text.isdigit() and ahead[2].text == ")" and not ahead[0].spaced

    def repeating(self, text: str) -> Node:
        """``0.1\\overline{2}``."""
        self.at += 1
        period = self.raw_group()
        if "." in period and "." not in text + "x":
            raise Refused("a point under the bar")
        if not period.isdigit() or "." not in text:
            raise Refused("a bar over what is no decimal part")
        return self.periodic(text, period)

    def periodic(self, text: str, period: str) -> Node:
        """The exact fraction of a repeating decimal."""
        whole, _, head = text.partition(".")
        scale = Fraction(1, 10 ** len(head))
        return number(Fraction(int(whole or "0")) + (Fraction(int(head or "0")) + Fraction(int(period), 10 ** len(period) - 1)) * scale)

    def symbol(self) -> Node:
        """A letter with its subscript; e and i are the constants; f, g, h, F and G before a parenthesis are functions."""
        token = self.next()
        name = token.text
        if self.peek_text() == "_":
            self.at += 1
            return Node("sym", text=f"{name}_{self.raw_group()}")
        if name in CONSTANTS:
            return Node("const", text=CONSTANTS[name])
        if name in "fghFG" and self.peek_text() in ("(", "'"):
            primes = ""
            while self.take("'"):
                primes += "'"
            if self.take("("):
                inside = self.group(")")
                return Node("func", inside.args if inside.kind == "list" else (inside,), "apply " + name + primes)
        if name == "C" and self.peek_text() == "(" and [t.text for t in self.tokens[self.at + 2 : self.at + 3]] == [","]:
            self.at += 1
            pair = self.group(")")
            if len(pair.args) != 2:
                raise Refused("combinations of other than two numbers")
            return Node("func", pair.args, "binom")
        if name in "fgh" and [t.text for t in self.tokens[self.at : self.at + 6]] == ["^", "{", "-", "1", "}", "("]:
            self.at += 6
            return Node("func", (self.group(")"),), "apply inverse " + name)
        if name in ("P", "Pr") and self.peek_text() == "(" and self.at == 1:
            return self.event(name)
        return Node("sym", text=name)

    def event(self, name: str) -> Node:
        """``P(X = 3)``: a name, whatever stands in the parentheses."""
        texts, depth = [name], 0
        while depth or len(texts) == 1:
            texts.append(self.next().text)
            depth += {"(": 1, ")": -1}.get(texts[-1], 0)
        return Node("sym", text="".join(texts))

    def command(self) -> Node:
        """A LaTeX command or a named function."""
        token = self.next()
        name = token.text
        if name in CONSTANTS:
            return Node("const", text=CONSTANTS[name])
        if name in GREEK:
            sub = ""
            if self.take("_"):
                sub = "_" + self.raw_group()
            return Node("sym", text=SAME_LETTER.get(name, name) + sub)
        if name in UNARY:
            return self.function(name)
        if name in ("frac", "binom"):
            parts = (self.argument(), self.argument())
            return Node("div", parts) if name == "frac" else Node("func", parts, "binom")
        if name in ("sqrt", "cbrt", "fourthroot"):
            return self.root(name)
        if name == "emptyset":
            return Node("empty")
        if name in ("mathbb", "Bbb"):
            field = self.raw_group()
            return Node("reals") if field == "R" else Node("word", text="set of " + field)
        if name in CLOSERS or name == "{" or name == "begin" or name == "|":
            return self.structure(name)
        if name in ACCENTS:
            return Node("sym", text=f"{name} {self.raw_group()}")
        if name in ("overline", "bar"):
            return self.barred()
        if name in ("sum", "prod"):
            return self.series(name)
        if name == "lim":
            return self.limit()
        raise Refused(f"the command {name!r}")

    def argument(self) -> Node:
        """One argument of a command: a braced group, or one digit or token as in ``\\frac12``."""
        if self.take("{"):
            return self.group("}")
        token = self.peek()
        if token is not None and token.kind == "number" and len(token.text) > 1 and token.text.isdigit():
            self.tokens[self.at] = Token("number", token.text[1:])
            return number(int(token.text[0]))
        if self.take("-"):
            return Node("neg", (self.argument(),))
        if token is not None and token.text in ("(", "["):
            raise Refused("a bracket as an argument")
        return self.primary()

    def root(self, name: str) -> Node:
        """``\\sqrt{x}``, ``\\sqrt[3]{x}``, ``sqrt(x)``."""
        degree = number({"sqrt": 2, "cbrt": 3, "fourthroot": 4}[name])
        if self.take("["):
            degree = self.group("]")
        if self.take("("):
            inside = self.group(")")
        elif self.peek_text() == "{":
            inside = self.argument()
        else:
            token = self.peek()
            whole = token is not None and token.kind == "number"
            inside = self.number_token() if whole and token is not None and token.spaced else self.argument()
        return Node("pow", (inside, Node("div", (number(1), degree))))
