"""The numbers that the papers print, as a checked table.

A row is one number: ``paper``, ``where`` (table or section), ``model``, ``benchmark``, ``method``, ``metric``, ``value`` (as printed, no
sign for gains, no thousands comma), ``unit``, ``note``. ``a - b`` in ``method`` is the difference of two methods in points (``pp``).
``not given`` is a value: the paper has the cell and its text does not say the number.
"""

import re

import pandas as pd

COLUMNS = ("paper", "where", "model", "benchmark", "method", "metric", "value", "unit", "note")
NOT_GIVEN = "not given"
UNITS = frozenset({"%", "pp", "count", "ratio", "p", "s", "tokens", "nats", "GPU-hours", "id", "name", ""})
DIFFERENCE = " - "
RELATIVE = " relative"
WINDOW = "window"
_WINDOWS = (
    (r"\bupdate (\d+)\b", "step {0}"),
    (r"\blast (\d+) updates\b", "last {0}"),
    (r"\b(whole run|fixed pool)\b", "{0}"),
    (r"\b(first|last) (\d+)-update window", "{0} {1} updates"),
)
"""What a note says of when a number was taken, and how our windows are called."""


def paper_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a float column ``number`` (NaN: not given, or a name), a bool column ``difference`` (two methods, in points or per
    cent) and a column ``window``: when the number was taken ("" at the endpoint, "step 30", "last 4", "whole run", "fixed pool", ...).

    ``table`` holds strings only, as ``pandas.read_csv(path, dtype=str, keep_default_na=False)`` gives. ValueError names the row.
    """
    if tuple(table.columns) != COLUMNS:
        raise ValueError(f"a paper's table needs the columns {', '.join(COLUMNS)}, got {', '.join(table.columns)}")
    for place, row in table.iterrows():
        if row["unit"] not in UNITS or not row["metric"] or not row["where"]:
            raise ValueError(f"{row['paper']}, row {place}: unknown unit or empty metric or place in {row.to_dict()}")
    literal = (table["value"] == NOT_GIVEN) | (table["unit"] == "name")
    number = pd.to_numeric(table["value"].where(~literal), errors="coerce").astype(float)
    wrong = table[number.isna() & ~literal]
    if len(wrong):
        raise ValueError(
            f"{wrong['paper'].iloc[0]}, row {wrong.index[0]}: value {wrong['value'].iloc[0]!r} is no number, nor {NOT_GIVEN!r}"
        )
    between = table["method"].str.contains(DIFFERENCE, regex=False)
    compared = between & ((table["unit"] == "pp") | table["metric"].str.endswith(RELATIVE))
    return table.assign(number=number, difference=compared, **{WINDOW: [window_of(note) for note in table["note"]]})


def window_of(note: str) -> str:
    """The window that a note names, as our tables call it; "" for the endpoint."""
    for pattern, name in _WINDOWS:
        found = re.search(pattern, note)
        if found:
            return name.format(*found.groups())
    return ""
