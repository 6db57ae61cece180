"""What every rule of the catalogue makes of the same roll-outs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from ttrlab.grading import Verdict
from ttrlab.pools import PoolRow
from ttrlab.report.highlights import Decision
from ttrlab.report.page.samples import class_answers, main_label
from ttrlab.report.tables import markdown

STATES = {1: "right", 0: "wrong", -1: "undecided"}


def label_table(rows: Sequence[PoolRow], decisions: Mapping[str, Sequence[Decision]], grader: Callable[[str, str], int]) -> str:
    """Labels given, right, wrong and undecided by rule; rules that agree in all four stand in one row.

    Rules that reward without a label are left out. ``grader``: (question id, answer) -> verdict.
    """
    counted: dict[tuple[int, ...], list[str]] = {}
    for method, made in decisions.items():
        verdicts = [_verdict(row, decision, grader) for row, decision in zip(rows, made, strict=True)]
        counts = tuple(sum(verdict == state for verdict in verdicts) for state in STATES)
        if any(counts):
            counted.setdefault((sum(counts), *counts), []).append(method)
    ordered = sorted(counted.items(), key=lambda entry: (-entry[0][1], entry[0]))
    table = [
        {"rules": ", ".join(names), "labels": given, **dict(zip(STATES.values(), ends, strict=True))} for (given, *ends), names in ordered
    ]
    return markdown(pd.DataFrame(table, columns=["rules", "labels", *STATES.values()]), f"Labels of {len(rows)} groups by every rule.")


def reason_table(rows: Sequence[PoolRow], gold: Mapping[str, str], explain: Callable[[str, str], tuple[Verdict, str]]) -> str:
    """How the grader decided: verdict and reason with the number of roll-outs and one answer each; UNDECIDED is a verdict of its own."""
    counted: Counter[tuple[str, str]] = Counter()
    shown: dict[tuple[str, str], str] = {}
    for row in rows:
        for answer, times in Counter(answer for answer in row.answers if answer is not None).items():
            verdict, reason = explain(answer, gold[row.question_id])
            key = (verdict.name, reason.partition(":")[0])
            counted[key] += times
            shown.setdefault(key, f"`{answer}` against `{gold[row.question_id]}`")
    table = [
        {"verdict": verdict, "reason": reason, "roll-outs": times, "such as": shown[verdict, reason]}
        for (verdict, reason), times in counted.most_common()
    ]
    return markdown(pd.DataFrame(table, columns=["verdict", "reason", "roll-outs", "such as"]), "How answers were compared with gold.")


def _verdict(row: PoolRow, decision: Decision, grader: Callable[[str, str], int]) -> int | None:
    label = main_label(decision)
    return None if label is None else grader(row.question_id, class_answers(row.answers, np.asarray(decision["answer_class"]))[label])


def floor_text(benchmark: str, regimes: Sequence[str], floor: float) -> str:
    """What the regime analysis says of a benchmark: how many questions lie at the floor, where there is nothing to recover."""
    low, total = sum(regime == "floor" for regime in regimes), len(regimes)
    verdict = "this model is at its floor here" if 2 * low > total else "most of it is above the floor"
    return f"{benchmark}: at most {100 * floor:g} % of the roll-outs are right on {low} of {total} groups; {verdict}.\n"
