"""Grade the evaluation roll-outs of one cell: a table of metrics, the same per question, and the main metric's curve per question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from ttrlab.benchmarks import Gold, read_gold
from ttrlab.config.specs import ScoreSpec
from ttrlab.evaluate.metrics import Score, grade_pool, measure, parse_metric
from ttrlab.files import digest, write_text
from ttrlab.grading import use_cache
from ttrlab.meter import metered
from ttrlab.pools import PoolRow, read_pool
from ttrlab.stages.command import PROOFS, read_spec, run, stage_parser

SHARES = ("unparsed", "truncated", "undecided", "tokens")
"""Scored for every checkpoint beside the metrics that the study asks for."""


def checkpoint_scores(names: Iterable[str], rows: list[PoolRow], greedy: list[PoolRow], gold: Mapping[str, Gold]) -> tuple[Score, ...]:
    """The named metrics, and the shares, of one checkpoint's roll-outs."""
    answers = {question_id: entry.answer for question_id, entry in gold.items()}
    graded = grade_pool(rows, answers)
    possible = [name for name in names if _samples_needed(name) <= graded.samples and (name != "greedy" or greedy)]
    return measure([*possible, *SHARES], graded, grade_pool(greedy, answers) if greedy else None)


def _samples_needed(name: str) -> int:
    return parse_metric(name)[1]


def groups_of(question_ids: Iterable[str], gold: Mapping[str, Gold]) -> dict[str, list[int]]:
    """Group name -> positions of its questions: ``all``, and one for every value of every tag (``regime=contested``)."""
    groups: dict[str, list[int]] = {"all": []}
    for position, question_id in enumerate(question_ids):
        for name in ("all", *(f"{tag}={value}" for tag, value in sorted(gold[question_id].tags.items()))):
            groups.setdefault(name, []).append(position)
    return groups


def score_rows(score: Score, groups: Mapping[str, list[int]], step: int, endpoint: bool) -> Iterator[dict[str, Any]]:
    """One row a group of questions: value, n questions, roll-outs in the denominator, and bounds where verdicts are undecided."""
    for group, positions in groups.items():
        yield {
            "step": step,
            "endpoint": endpoint,
            "group": group,
            "metric": score.name,
            "value": float(score.per_question[positions].mean()),
            "upper": float(score.per_question_upper[positions].mean()),
            "n": len(positions),
            "rollouts": len(positions) * score.samples,
            "undecided": score.undecided if group == "all" else None,
        }


def tables(spec: ScoreSpec, pools: Sequence[str], greedy: list[PoolRow], gold: Mapping[str, Gold]) -> list[pd.DataFrame]:
    """The scores of every checkpoint in ``pools`` (endpoint first), those of the endpoint by question, and the main metric of every
    question (rows) at every checkpoint (columns)."""
    table: list[dict[str, Any]] = []
    per_question: list[dict[str, Any]] = []
    curves: dict[int, pd.Series] = {}
    for endpoint, pool in zip([True, *[False] * len(pools)], pools, strict=False):
        for step, grouped in groupby(read_pool(Path(pool)), key=lambda row: row.step):
            rows = list(grouped)
            ids = [row.question_id for row in rows]
            groups = groups_of(ids, gold)
            for score in checkpoint_scores(spec.metrics, rows, greedy if endpoint else [], gold):
                table += score_rows(score, groups, step, endpoint)
                if score.name == spec.metrics[0]:
                    curves[step] = pd.Series(score.per_question, index=ids)
                if endpoint:
                    per_question += [
                        {"question_id": i, "metric": score.name, "value": v} for i, v in zip(ids, score.per_question, strict=True)
                    ]
    cell = spec.cell.model_dump()
    curve = pd.DataFrame(dict(sorted(curves.items()))).rename_axis("question_id").reset_index()
    return [pd.DataFrame(table).assign(**cell), pd.DataFrame(per_question).assign(**cell), curve]


def main() -> None:
    """Write ``--scores``, ``--questions`` and ``--curves`` from ``--pools`` (endpoint first) and ``--gold``."""
    parser = stage_parser(__doc__, "gold", "greedy", "scores", "questions", "curves")
    parser.add_argument("--pools", nargs="+", required=True)
    arguments = parser.parse_args()
    use_cache(PROOFS)
    spec = read_spec(ScoreSpec, arguments.spec)
    gold = read_gold(Path(arguments.gold))
    with metered(Path(arguments.scores).parent / "score", "score", digest(spec.model_dump(mode="json"))) as meter, meter.phase("grade"):
        made = tables(spec, arguments.pools, list(read_pool(Path(arguments.greedy))), gold)
        for path, table in zip((arguments.scores, arguments.questions, arguments.curves), made, strict=True):
            write_text(Path(path), table.to_csv(index=False))


if __name__ == "__main__":
    run(main)
