"""The study over all its cells (IQM, probability of improvement), and the variance of every score by source, as two tables."""

from pathlib import Path

import pandas as pd

from ttrlab.config.specs import EvidenceSpec
from ttrlab.evaluate.spread import VARIANCE, overall_table, samples_of, variance_table
from ttrlab.report import tables
from ttrlab.report.spread import NO_SAMPLES, OVERALL_CAPTION, VARIANCE_CAPTION, overall_rows, variance_rows
from ttrlab.report.tables import BASE
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.contrasts import BASELINES


def main() -> None:
    """Write the tables overall and variance in ``--tables`` from ``--questions``."""
    arguments = parse(__doc__, "questions", "tables")
    spec, folder = read_spec(EvidenceSpec, arguments.spec), Path(arguments.tables)
    questions = pd.read_csv(arguments.questions, dtype={"question_id": str})
    metric, baselines = spec.metrics[0], [name for name in BASELINES if name in spec.methods]
    overall = overall_table(questions, metric, spec.methods, baselines)
    tables.write(folder / "overall", overall, OVERALL_CAPTION.format(metric), overall_rows(overall))
    averaged = next((name for name in spec.metrics if samples_of(name)), None)
    arms = [(method, "") for method in spec.methods]
    arms += [(method, baseline) for baseline in baselines for method in spec.methods if method not in (BASE, baseline)]
    split = pd.DataFrame(columns=list(VARIANCE)) if averaged is None else variance_table(questions, averaged, arms)
    tables.write(folder / "variance", split, VARIANCE_CAPTION.format(averaged) if averaged else NO_SAMPLES, variance_rows(split))


if __name__ == "__main__":
    run(main)
