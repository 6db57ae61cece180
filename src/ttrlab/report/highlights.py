"""What a replay shows at a glance: where rules disagree, a few questions in full, the regimes, the answers that no one could compare."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from ttrlab.grading import Verdict
from ttrlab.pools import PoolRow
from ttrlab.report.page.samples import LABEL_STATES, Decision, class_answers, main_label

Grader = Callable[[str, str], int]
"""(question id, answer) -> verdict 1, 0 or -1."""

Decisions = Mapping[str, Sequence[Decision]]
"""Method -> its decisions on the same groups, in the same order."""


def labels(rows: Sequence[PoolRow], decisions: Decisions) -> dict[str, list[str | None]]:
    """Method -> the answer that it rewards in every group, None where it rewards none; a rule that never labels is left out."""
    found = {
        method: [
            None if (label := main_label(decision)) is None else class_answers(row.answers, np.asarray(decision["answer_class"]))[label]
            for row, decision in zip(rows, made, strict=True)
        ]
        for method, made in decisions.items()
    }
    return {method: given for method, given in found.items() if any(label is not None for label in given)}


def disagreements(rows: Sequence[PoolRow], given: Mapping[str, Sequence[str | None]], grader: Grader) -> pd.DataFrame:
    """One row a pair of methods: groups that both label, differ on, and where they differ, how many each has right."""
    table = []
    for first, second in combinations(given, 2):
        both = [
            (row.question_id, a, b) for row, a, b in zip(rows, given[first], given[second], strict=True) if a is not None and b is not None
        ]
        differ = [(name, a, b) for name, a, b in both if a != b]
        table.append(
            {
                "method": first,
                "other": second,
                "both label": len(both),
                "differ": len(differ),
                "method right": sum(grader(name, a) == 1 for name, a, _ in differ),
                "other right": sum(grader(name, b) == 1 for name, _, b in differ),
            }
        )
    return pd.DataFrame(table).sort_values("differ", ascending=False, kind="stable").reset_index(drop=True)


def most_disputed(rows: Sequence[PoolRow], given: Mapping[str, Sequence[str | None]], grader: Grader, n: int) -> list[int]:
    """Places of n groups: first those in which one rule is right and another is wrong, then by the number of different labels."""

    def rank(place: int) -> tuple[bool, int, int]:
        different = {label for made in given.values() if (label := made[place]) is not None}
        verdicts = {grader(rows[place].question_id, label) for label in different}
        return not {0, 1} <= verdicts, -len(different), place

    return sorted(range(len(rows)), key=rank)[:n]


def classes(row: PoolRow, decision: Decision, grader: Grader) -> pd.DataFrame:
    """One row an answer class of a group, largest first: votes, verdict, mean confidence, and the mass that ``decision`` gives it.

    ``decision``: CoRE's, whose per-roll-out ``equilibrium`` is the replicator dynamics' end point.
    """
    member = np.asarray(decision["answer_class"])
    mass = np.asarray(decision["per_rollout"]["equilibrium"])
    table = [
        {
            "answer": answer,
            "votes": int((member == label).sum()),
            "is": LABEL_STATES[grader(row.question_id, answer)],
            "log-prob": f"{row.signals['mean_logprob'][member == label].mean():.3f}",
            "equilibrium": f"{mass[member == label].sum():.2f}",
        }
        for label, answer in enumerate(class_answers(row.answers, member))
    ]
    return pd.DataFrame(table).sort_values("votes", ascending=False, kind="stable").reset_index(drop=True)


def chosen(given: Mapping[str, Sequence[str | None]], place: int) -> str:
    """Which methods reward which answer of a group, one sentence a label."""
    by_label: dict[str | None, list[str]] = {}
    for method, made in given.items():
        by_label.setdefault(made[place], []).append(method)
    return "; ".join(f"{'no label' if label is None else f'`{label}`'}: {', '.join(methods)}" for label, methods in by_label.items())


def undecided(rows: Iterable[PoolRow], gold: Mapping[str, str], explain: Callable[[str, str], tuple[Verdict, str]]) -> pd.DataFrame:
    """One row an answer that could not be compared with gold: how often it was given, and why not."""
    table = []
    for row in rows:
        for answer, times in Counter(answer for answer in row.answers if answer is not None).items():
            verdict, reason = explain(answer, gold[row.question_id])
            if verdict is Verdict.UNDECIDED:
                table.append({"question": row.question_id, "answer": answer, "roll-outs": times, "reason": reason})
    return pd.DataFrame(table, columns=["question", "answer", "roll-outs", "reason"])
