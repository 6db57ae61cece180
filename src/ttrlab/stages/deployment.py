"""Join all judged endpoints of a study: selectors beside each other, judges on identical pools."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ttrlab.evaluate.deployment import POOL, judge_table, selector_table
from ttrlab.files import write_text
from ttrlab.report import tables
from ttrlab.stages.command import run, stage_parser

SELECTORS = "share of questions answered right, in %, mean over seeds, by who selects from the endpoint roll-outs (no label is read)"
JUDGES = "judges on identical endpoint roll-outs, in %: first -> second (difference with its paired 95 % interval over questions)"


def percent(value: float, sign: str = "") -> str:
    """A share as a percentage with one decimal."""
    return f"{100 * value:{sign}.1f}"


def change(row: Mapping[Hashable, Any]) -> str:
    """A row of the judges' table for people."""
    values = f"{percent(row['first_value'])} -> {percent(row['second_value'])}"
    return f"{values} ({percent(row['difference'], '+')} [{percent(row['low'])}, {percent(row['high'])}])"


def main() -> None:
    """Write deployment.csv, judges.csv and their readable tables into ``--out`` from all ``--selections`` and ``--counts``."""
    parser = stage_parser(__doc__, "out", spec=False)
    for option in ("--selections", "--counts"):
        parser.add_argument(option, nargs="+", required=True)
    arguments = parser.parse_args()
    out = Path(arguments.out)
    selected, judged = (
        pd.concat([pd.read_csv(path) for path in paths], ignore_index=True) for paths in (arguments.selections, arguments.counts)
    )
    selectors = selector_table(selected)
    write_text(out / "deployment.csv", selectors.to_csv(index=False))
    wide = selectors.assign(text=selectors.accuracy.map(percent)).pivot(
        index=[*POOL, "judge", "n", "seeds"], columns="selector", values="text"
    )
    shown = wide[selectors.selector.unique()].reset_index()
    tables.write(out / "tables" / "deployment", selectors, SELECTORS, shown)
    judges = judge_table(judged)
    write_text(out / "judges.csv", judges.to_csv(index=False))
    text = [change(row) for row in judges.to_dict("records")]
    readable = judges.assign(text=text).pivot(index=[*POOL, "first", "second", "n", "judgements"], columns="rate", values="text")
    tables.write(out / "tables" / "judges", judges, JUDGES, readable[judges.rate.unique()].reset_index())


if __name__ == "__main__":
    run(main)
