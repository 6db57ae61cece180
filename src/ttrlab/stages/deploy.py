"""Judge a cell's endpoint roll-outs, all that can be judged. Reads no gold: what the selectors choose is graded by the select stage."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ttrlab.benchmarks import read_questions
from ttrlab.config.rectify import DeploySpec
from ttrlab.files import digest, write_json
from ttrlab.meter import metered
from ttrlab.pools import PoolRow, read_pool, write_pool
from ttrlab.rectifier.judge import Judge
from ttrlab.rectifier.select import JUDGEMENTS, judge_eligible
from ttrlab.replay.groups import group_from_pool
from ttrlab.stages.command import parse, read_spec, run
from ttrlab.stages.judge import judge_of
from ttrlab.types import Question


def judged_rows(rows: Iterator[PoolRow], questions: Mapping[str, Question], judge: Judge) -> Iterator[PoolRow]:
    """The rows with what the judge says of every eligible roll-out, all asked in one batch."""
    pool = list(rows)
    groups = judge_eligible([group_from_pool(row, questions[row.question_id], ()) for row in pool], judge)
    for row, group in zip(pool, groups, strict=True):
        said = {name: np.asarray(group.signal(name), dtype=np.float64) for name in JUDGEMENTS}
        yield replace(row, signals={**row.signals, **said})


def main() -> None:
    """Write the pool ``--rollouts`` with judgements to ``judged.jsonl.gz`` in ``--out``, beside ``judgements.jsonl``, their reasons."""
    arguments = parse(__doc__, "rollouts", "questions", "judge", "out", optional=("frozen",))
    spec, out = read_spec(DeploySpec, arguments.spec), Path(arguments.out)
    questions = read_questions(Path(arguments.questions))
    frozen = Path(arguments.frozen) if arguments.frozen else None
    with metered(out, "deploy", digest(spec.model_dump(mode="json"))) as meter:
        with meter.phase("load"):
            judge = judge_of(spec.judge, arguments.judge, frozen, questions, out / "judgements.jsonl")
        with meter.phase("judge"):
            rows = judged_rows(read_pool(Path(arguments.rollouts)), {question.id: question for question in questions}, judge)
            write_pool(out / "judged.jsonl.gz", rows)
        write_json(out / "judge.json", {"identity": judge.identity})


if __name__ == "__main__":
    run(main)
