"""Tables as LaTeX: booktabs and longtable, every cell escaped, compiled by any engine that has the two packages."""

from collections.abc import Sequence

import pandas as pd

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\textquotedbl{}", "−": "$-$", "±": r"$\pm$", "–": "--", "·": r"$\cdot$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$",
    "\n": " ", "\r": " ", "\t": " ",
}  # fmt: skip


def escape(text: str) -> str:
    """``text`` as LaTeX prints it; what has no other form and is not printable ASCII is written as its code point."""
    return "".join(_ESCAPES.get(character, _plain(character)) for character in text)


def _plain(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    return character if character.isalpha() else rf"\texttt{{U+{ord(character):04X}}}"


def latex(table: pd.DataFrame, caption: str, label: str, numeric: Sequence[str] = ()) -> str:
    r"""A ``longtable`` with ``\caption`` and ``\label{tab:...}``; columns in ``numeric`` are right-aligned. Missing values are empty."""
    columns = "".join("r" if name in numeric else "l" for name in table.columns)
    head = _row(table.columns)
    body = [_row(["" if pd.isna(value) else value for value in row]) for row in table.itertuples(index=False)]
    opening = [
        r"% needs \usepackage{booktabs,longtable}",
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{{escape(caption)}}}\label{{tab:{label}}}\\",
    ]
    first = [r"\toprule", head, r"\midrule", r"\endfirsthead"]
    later = [r"\toprule", head, r"\midrule", r"\endhead"]
    return "\n".join([*opening, *first, *later, *body, r"\bottomrule", r"\end{longtable}", ""])


def _row(cells: Sequence[object] | pd.Index) -> str:
    return " & ".join(escape(str(cell)) for cell in cells) + r" \\"
