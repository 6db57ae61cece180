"""Paper against measured: every printed number with ours, its interval, n, seeds, and a verdict by the study's rule."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ttrlab.config.evidence import Evidence
from ttrlab.config.specs import EvidenceSpec
from ttrlab.evaluate.compare import compare, is_claim
from ttrlab.evaluate.measured import measured
from ttrlab.evaluate.measurements import Measurements
from ttrlab.evaluate.paper import paper_numbers
from ttrlab.report import claims, tables
from ttrlab.report.tables import read_all
from ttrlab.stages.command import read_spec, run, stage_parser
from ttrlab.stages.plan import changed_rules


def read_papers(paths: Sequence[Path]) -> pd.DataFrame:
    """The results that the papers print, in their order; settings and examples are no claims."""
    numbers = pd.concat([paper_numbers(pd.read_csv(path, dtype=str, keep_default_na=False)) for path in paths], ignore_index=True)
    return numbers[is_claim(numbers)].reset_index(drop=True)


def last_steps(summary: pd.DataFrame) -> Mapping[tuple[str, str], int]:
    """(model, benchmark) -> the step of its adapted endpoints."""
    ends = summary[summary["endpoint"].astype(bool)].sort_values("step", kind="stable")
    return {(str(row["model"]), str(row["benchmark"])): int(row["step"]) for _, row in ends.iterrows()}


def judged(papers: pd.DataFrame, results: Path, offline: Sequence[Path], metric: str, evidence: Evidence) -> pd.DataFrame:
    """paper.csv of the study in ``results``."""
    found = Measurements(
        questions=read_all([results / "questions.csv"]),
        audit=read_all([results / "audit.csv"]),
        efficiency=read_all([results / "efficiency.csv"]),
        offline=read_all(offline),
        last_steps=last_steps(read_all([results / "summary.csv"])),
        metric=metric,
        evidence=evidence,
    )
    return claims.tidy(compare(papers, measured(papers, found), evidence.verdict))


def main() -> None:
    """Write ``--table``.csv, .md and .tex from ``--papers`` and the study in ``--results``; ``--fixed`` holds the rules as first frozen."""
    parser = stage_parser(__doc__, "results", "fixed", "table")
    parser.add_argument("--papers", nargs="+", required=True)
    parser.add_argument("--offline", nargs="*", default=[], help="offline/questions.csv of the base cells")
    arguments = parser.parse_args()
    spec = read_spec(EvidenceSpec, arguments.spec)
    papers = read_papers([Path(path) for path in arguments.papers])
    table = judged(papers, Path(arguments.results), [Path(path) for path in arguments.offline], spec.metrics[0], spec.evidence)
    caption = claims.caption(table, spec.evidence, changed_rules(spec.evidence, Path(arguments.fixed)))
    tables.write(Path(arguments.table), table, caption, claims.readable(table))


if __name__ == "__main__":
    run(main)
