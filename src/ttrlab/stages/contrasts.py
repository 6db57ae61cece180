"""Compare every method with base and with the majority vote, per model and benchmark: differences, intervals, tests, what could be seen."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ttrlab.config.evidence import Evidence
from ttrlab.config.specs import EvidenceSpec
from ttrlab.evaluate.contrasts import Contrast, contrast_table, contrasts_from
from ttrlab.evaluate.families import family_table
from ttrlab.files import write_text
from ttrlab.report import tables
from ttrlab.report.claims import family_rows
from ttrlab.report.tables import BASE
from ttrlab.stages.command import parse, read_spec, run

BASELINES = (BASE, "majority")
"""Methods that the others are compared with, where the study has them; base itself is compared with nothing."""

SCORE_COLUMNS = ("metric", "model", "benchmark", "method", "value", "n", "seeds", "level", "low", "high", "seeds_low", "seeds_high",
                 "population_low", "population_high", "standard_error")  # fmt: skip


def study_contrasts(questions: pd.DataFrame, metric: str, methods: Sequence[str]) -> list[Contrast]:
    """All contrasts of one metric, in the order baseline, method, cell: the family over which Holm corrects."""
    pairs = [(method, baseline) for baseline in BASELINES if baseline in methods for method in methods if method not in (BASE, baseline)]
    return [contrast for method, baseline in pairs for contrast in contrasts_from(questions, metric, method, baseline)]


def differences(questions: pd.DataFrame, metrics: Sequence[str], methods: Sequence[str]) -> pd.DataFrame:
    """``contrast_table`` of each metric's contrasts with a column ``metric`` in front; each metric is a family of its own."""
    return _stacked([(metric, study_contrasts(questions, metric, methods)) for metric in metrics])


def own_scores(questions: pd.DataFrame, metrics: Sequence[str], methods: Sequence[str]) -> pd.DataFrame:
    """Every method's own score with its intervals, a row a (metric, method, cell); nothing is tested."""
    found = [(metric, [own for method in methods for own in contrasts_from(questions, metric, method)]) for metric in metrics]
    return _stacked(found).rename(columns={"difference": "value"}).reindex(columns=list(SCORE_COLUMNS))


def _stacked(found: Sequence[tuple[str, list[Contrast]]]) -> pd.DataFrame:
    tables = [contrast_table(contrasts).assign(metric=metric) for metric, contrasts in found if contrasts]
    if not tables:
        return pd.DataFrame(columns=["metric", "model", "benchmark", "method", "baseline"])
    table = pd.concat(tables, ignore_index=True)
    return table[["metric", *(name for name in table.columns if name != "metric")]]


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The contrasts in percentage points, as a person reads them."""

    def between(row: pd.Series, name: str) -> str:
        low, high = (100 * row[f"{name}low"], 100 * row[f"{name}high"])
        return "" if pd.isna(low) else f"{low:+.1f} to {high:+.1f}"

    rows = [
        {
            "metric": row.metric,
            "model": row.model,
            "benchmark": row.benchmark,
            "contrast": f"{row.method} - {row.baseline}",
            "points": f"{100 * row.difference:+.1f}",
            "these questions": between(row, "seeds_"),
            "questions like these": between(row, "population_"),
            "Wilcoxon p": f"{row.wilcoxon_p:.2g}",
            "Holm": f"{row.wilcoxon_p_holm:.2g}",
            "d_z": "" if pd.isna(row.cohens_dz) else f"{row.cohens_dz:.2f}",
            "detectable": f"{100 * row.detectable:.1f}",
            "n": row.n,
            "seeds": row.seeds,
        }
        for _, row in table.iterrows()
    ]
    return pd.DataFrame(rows)


CAPTION = (
    "Differences in points with 95 % intervals: seeds resampled (these questions), questions and seeds resampled (questions like these); "
    "Holm over the contrasts of a metric; detectable: smallest true difference seen with 80 % power"
)
NOTHING = "No two methods of this study can be compared: it has neither base nor majority beside another"
FAMILIES = (
    "{}: mean differences over cells, each counting once, as CoRE summarises its grid; 95 % interval, questions and seeds resampled; "
    "settings won and two-sided tests over cells"
)


def families(questions: pd.DataFrame, metric: str, methods: Sequence[str], evidence: Evidence) -> pd.DataFrame:
    """``family_table`` of every method against each baseline, by the study's groups of models and benchmarks."""
    pairs = [(method, baseline) for baseline in BASELINES if baseline in methods for method in methods if method not in (BASE, baseline)]
    found = [contrasts_from(questions, metric, method, baseline) for method, baseline in pairs]
    parts = [family_table(contrasts, evidence.models, evidence.benchmarks) for contrasts in found if contrasts]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def main() -> None:
    """Write ``--contrasts``, ``--intervals`` (CSV) and the tables contrasts and families in ``--tables`` from ``--questions``."""
    arguments = parse(__doc__, "questions", "contrasts", "intervals", "tables")
    spec, folder = read_spec(EvidenceSpec, arguments.spec), Path(arguments.tables)
    questions = pd.read_csv(arguments.questions, dtype={"question_id": str})
    compared = differences(questions, spec.metrics, spec.methods)
    write_text(Path(arguments.contrasts), compared.to_csv(index=False))
    write_text(Path(arguments.intervals), own_scores(questions, spec.metrics, spec.methods).to_csv(index=False))
    tables.write(folder / "contrasts", readable(compared), CAPTION if len(compared) else NOTHING)
    summary = families(questions, spec.metrics[0], spec.methods, spec.evidence)
    tables.write(folder / "families", summary, FAMILIES.format(spec.metrics[0]) if len(summary) else NOTHING, family_rows(summary))


if __name__ == "__main__":
    run(main)
