"""From a tree to the normal form of an expression, series and matrices among them."""

from dataclasses import replace
from fractions import Fraction

from ttrlab.grading import normal as nf
from ttrlab.grading.functions import apply
from ttrlab.grading.limits import Refused
from ttrlab.grading.normal import Poly
from ttrlab.grading.powers import power
from ttrlab.grading.tree import Node, number
from ttrlab.grading.values import INFINITY

MAX_SERIES = 300
"""Terms of a sum or product that is written out."""
ARITHMETIC = ("add", "mul", "neg", "div", "pow")
Matrix = tuple[int, int, list[Poly]]
"""Rows, columns, entries in row order."""


def to_poly(node: Node) -> Poly:
    """The normal form of an expression. Refused for what is no expression."""
    match node.kind:
        case "num":
            assert node.number is not None
            return nf.constant(nf.guard(node.number))
        case "sym":
            return nf.generator(("s", node.text))
        case "const":
            return nf.generator(INFINITY if node.text == "infty" else (node.text,))
        case "neg":
            return nf.add({}, to_poly(node.args[0]), -1)
        case "mul":
            return nf.multiply(to_poly(node.args[0]), to_poly(node.args[1]))
        case "div":
            return nf.multiply(to_poly(node.args[0]), nf.inverse(to_poly(node.args[1])))
        case "pow":
            return power(to_poly(node.args[0]), to_poly(node.args[1]))
        case "quantity" if node.text == "percent":
            return nf.multiply(to_poly(node.args[0]), nf.constant(Fraction(1, 100)))
        case "add":
            total: Poly = {}
            for part in node.args:
                total = nf.add(total, to_poly(part))
            return total
        case "series":
            return _series(node)
        case "func":
            return _function(node)
    raise Refused(f"a {node.kind} inside an expression")


def _function(node: Node) -> Poly:
    if node.text == "det" or (node.text == "abs" and node.args[0].kind == "matrix"):
        rows, columns, entries = matrix(node.args[0])
        if rows != columns or rows > 3:
            raise Refused("a determinant beyond 3 by 3")
        return determinant(entries, rows)
    return apply(node.text, [to_poly(a) for a in node.args])


def determinant(entries: list[Poly], n: int) -> Poly:
    """Determinant of an n x n matrix in row order, by expansion along the first row."""
    if n == 1:
        return entries[0]
    total: Poly = {}
    for column in range(n):
        minor = [entries[r * n + c] for r in range(1, n) for c in range(n) if c != column]
        total = nf.add(total, nf.multiply(entries[column], determinant(minor, n - 1)), -1 if column % 2 else 1)
    return total


def _series(node: Node) -> Poly:
    """A sum or product written out where its bounds are near integers; else opaque, its index renamed."""
    kind, index = node.text.split(" ")
    low, high = to_poly(node.args[0]), to_poly(node.args[1])
    first, last = nf.as_rational(low), nf.as_rational(high)
    whole = first is not None and last is not None and first.denominator == last.denominator == 1
    if whole and first is not None and last is not None and last - first < MAX_SERIES and not _indexed(node.args[2], index):
        total = nf.constant(0 if kind == "sum" else 1)
        for k in range(int(first), int(last) + 1):
            term = to_poly(_with_index(node.args[2], index, number(k)))
            total = nf.add(total, term) if kind == "sum" else nf.multiply(total, term)
        return total
    body = to_poly(_with_index(node.args[2], index, Node("sym", text="#")))
    return nf.generator(("f", kind, nf.freeze(low), nf.freeze(high), nf.freeze(body)))


def _indexed(node: Node, index: str) -> bool:
    """Whether the index occurs in a subscript."""
    return (node.kind == "sym" and index in node.text.partition("_")[2]) or any(_indexed(a, index) for a in node.args)


def _with_index(node: Node, index: str, value: Node) -> Node:
    """The tree with the index replaced; in subscripts by a mark."""
    if node.kind == "const" and node.text == index:
        return value
    if node.kind == "sym":
        letter, mark, subscript = node.text.partition("_")
        return value if node.text == index else replace(node, text=letter + mark + subscript.replace(index, "#"))
    return replace(node, args=tuple(_with_index(a, index, value) for a in node.args))


def has_matrix(node: Node) -> bool:
    """Whether the tree is arithmetic with a matrix in it."""
    return node.kind in ARITHMETIC and any(a.kind == "matrix" or has_matrix(a) for a in node.args)


def matrix(node: Node) -> Matrix:
    """The matrix that a tree of sums, products, powers and transposes computes. Refused where shapes do not fit."""
    if node.kind == "matrix":
        rows, columns = map(int, node.text.split())
        return rows, columns, [to_poly(a) for a in node.args]
    if node.kind == "neg":
        return scaled_matrix(matrix(node.args[0]), nf.constant(-1))
    if node.kind == "add":
        total = matrix(node.args[0])
        for part in node.args[1:]:
            other = matrix(part)
            if other[:2] != total[:2]:
                raise Refused("a sum of matrices of different shapes")
            total = (*total[:2], [nf.add(a, b) for a, b in zip(total[2], other[2], strict=True)])
        return total
    if node.kind in ("mul", "div"):
        left, right = node.args
        if not (left.kind == "matrix" or has_matrix(left)):
            if node.kind == "div":
                raise Refused("a division by a matrix")
            return scaled_matrix(matrix(right), to_poly(left))
        if not (right.kind == "matrix" or has_matrix(right)):
            factor = to_poly(right)
            return scaled_matrix(matrix(left), factor if node.kind == "mul" else nf.inverse(factor))
        if node.kind == "mul":
            return matrix_product(matrix(left), matrix(right))
    if node.kind == "pow":
        return _matrix_power(matrix(node.args[0]), node.args[1])
    raise Refused(f"a {node.kind} of matrices")


def _matrix_power(base: Matrix, exponent: Node) -> Matrix:
    rows, columns, entries = base
    if exponent.kind == "sym" and exponent.text in ("T", "t"):
        return columns, rows, [entries[r * columns + c] for c in range(columns) for r in range(rows)]
    times = nf.as_rational(to_poly(exponent))
    if times is None or times.denominator != 1 or not 1 <= times <= 20:
        raise Refused("a power of a matrix")
    result = base
    for _ in range(int(times) - 1):
        result = matrix_product(result, base)
    return result


def scaled_matrix(value: Matrix, factor: Poly) -> Matrix:
    """Every entry times a factor."""
    return value[0], value[1], [nf.multiply(factor, e) for e in value[2]]


def matrix_product(a: Matrix, b: Matrix) -> Matrix:
    """The product of (n, k) and (k, m)."""
    (n, k, left), (inner, m, right) = a, b
    if k != inner:
        raise Refused("a product of matrices whose shapes do not fit")
    entries = []
    for row in range(n):
        for column in range(m):
            total: Poly = {}
            for j in range(k):
                total = nf.add(total, nf.multiply(left[row * k + j], right[j * m + column]))
            entries.append(total)
    return n, m, entries
