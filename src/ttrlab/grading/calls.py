"""The parser's matrices and function calls."""

from ttrlab.grading.constants import RENAMED
from ttrlab.grading.limits import Refused
from ttrlab.grading.structures import Structures
from ttrlab.grading.tree import Node, number


class Calls(Structures):
    """Matrices and named functions with their arguments."""

    def matrix(self) -> Node:
        """``pmatrix`` and its relatives; ``array`` and ``cases`` with one column are read as columns."""
        name = self.raw_group()
        if name.rstrip("*") == "cases":
            return self.cases()
        if name.rstrip("*") not in ("pmatrix", "bmatrix", "matrix", "Bmatrix", "vmatrix", "smallmatrix", "array"):
            raise Refused(f"the environment {name!r}")
        if name == "array" and self.peek_text() == "{":
            self.raw_group()
        rows: list[list[Node]] = [[]]
        while not self.take("end"):
            if self.take("newline"):
                rows.append([])
            elif self.take("&"):
                continue
            else:
                rows[-1].append(self.sum())
        self.raw_group()
        rows = [row for row in rows if row]
        if not rows or len({len(row) for row in rows}) != 1:
            raise Refused("a matrix with uneven rows")
        flat = tuple(entry for row in rows for entry in row)
        matrix = Node("matrix", flat, text=f"{len(rows)} {len(rows[0])}")
        return Node("func", (matrix,), "det") if name == "vmatrix" else matrix

    def cases(self) -> Node:
        """Rows of ``cases``: one relation a row is a list of relations, value and condition are a pair."""
        rows: list[Node] = []
        while not self.take("end"):
            parts = [self.statement()]
            while self.take("&"):
                parts.append(self.statement())
            rows.append(parts[0] if len(parts) == 1 else Node("seq", tuple(parts), "()"))
            self.take("newline")
        self.raw_group()
        return rows[0] if len(rows) == 1 else Node("list", tuple(rows))

    def series(self, name: str) -> Node:
        """``\\sum_{k=a}^{b}`` or ``\\prod`` with the product that follows as its body."""
        if not (self.take("_") and self.take("{")):
            raise Refused(f"a {name} without bounds")
        variable, low = self.next(), Node("empty")
        if variable.kind != "symbol" or not self.take("="):
            raise Refused(f"a {name} over what is no index")
        low = self.group("}")
        if not self.take("^"):
            raise Refused(f"a {name} without an upper bound")
        high = self.exponent()
        return Node("series", (low, high, self.term()), f"{name} {variable.text}")

    def limit(self) -> Node:
        """``\\lim_{x \\to a}`` with the product that follows; nothing is computed."""
        target = self.raw_group() if self.take("_") else ""
        return Node("func", (self.term(),), "apply lim " + target)

    def barred(self) -> Node:
        """A bar over letters is a name (a segment, a mean, a conjugate); over a number it is the conjugate."""
        start = self.at
        inside = self.argument()
        names = [t.text for t in self.tokens[start : self.at] if t.text not in ("{", "}")]
        if all(len(n) == 1 and n.isalpha() and n != "i" for n in names):
            return Node("sym", text="bar " + "".join(names))
        return Node("func", (inside,), "conjugate")

    def function(self, name: str) -> Node:
        """A named function with its power, its base and its argument; without parentheses the argument is the product that follows."""
        name = RENAMED.get(name, name)
        power: Node | None = None
        base: Node | None = None
        while self.peek_text() in ("^", "_") and self.peek_kind() == "mark":
            if self.next().text == "^":
                power = self.exponent()
            elif self.take("{"):
                base = self.group("}")
            else:
                token = self.next()
                base = number(int(token.text)) if token.text.isdigit() else Node("sym", text=token.text)
        if name == "log" and base is None and self.based():
            base = number(int(self.next().text))
        inverse = power is not None and power == Node("neg", (number(1),))
        if inverse:
            name, power = "arc" + name, None
        arguments = self.function_arguments()
        value = Node("func", (*arguments, base) if base is not None else arguments, name + (" base" if base is not None else ""))
        return Node("pow", (value, power)) if power is not None else value

    def based(self) -> bool:
        """Whether a base stands right behind the name of a logarithm, as in ``log2(8)``."""
        ahead = self.tokens[self.at : self.at + 2]
        return len(ahead) == 2 and ahead[0].text in ("2", "10") and not ahead[0].spaced and ahead[1].text == "("

    def function_arguments(self) -> tuple[Node, ...]:
        """``(a, b)``, ``{a}`` or the factors up to the next sign or function; degree marks inside are angles."""
        self.in_function += 1
        found = self.bare_arguments()
        self.in_function -= 1
        return found

    def bare_arguments(self) -> tuple[Node, ...]:
        """See function_arguments."""
        if self.peek_text() == "{" and self.peek_kind() == "command":
            self.at += 1
            inside = self.group("}")
            return inside.args if inside.kind == "list" else (inside,)
        if self.peek_text() in ("(", "{") and self.peek_kind() == "mark":
            inside = self.group(")" if self.next().text == "(" else "}")
            if self.take_degree():
                return (Node("mul", (inside, Node("div", (Node("const", text="pi"), number(180))))),)
            return inside.args if inside.kind == "list" else (inside,)
        negative = self.take("-")
        value = self.factor()
        while True:
            token = self.peek()
            if self.take("/"):
                value = Node("div", (value, self.factor()))
            elif token is not None and (
                token.kind in ("symbol", "number") or token.text in ("pi", "theta", "alpha", "beta", "frac", "sqrt")
            ):
                value = Node("mul", (value, self.factor()))
            else:
                break
        return (Node("neg", (value,)) if negative else value,)
