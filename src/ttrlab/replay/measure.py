"""What the decisions of several rules on the same roll-outs were worth, and how far they agree: sums over groups, one group in memory.

Gold is optional. Without it every verdict is undecided, and only what needs no verdict is reported (``BLIND``).
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ttrlab.evaluate.audit import StoredDecision, decision_from_json, rates, visit_counts
from ttrlab.files import read_jsonl
from ttrlab.replay.visits import Visit

BLIND = (
    *("groups", "rollouts", "active", "accepted", "weight", "reward", "changed", "majority_active"),
    *("coverage", "active_share", "active_kept", "mean_weight", "mean_reward"),
)
"""Columns of the audit that need no gold."""


def audited_counts(made: StoredDecision, visit: Visit, train: int) -> dict[str, float]:
    """The additive counts of one rule on one group: ``audit.visit_counts``, and what became of the vote's label.

    ``minority_recovered``: the vote is wrong, the label right; ``majority_lost``: the vote is right, the label wrong;
    ``majority_withheld``: the vote is right and the rule abstains. Where labels are per roll-out these are shares.
    """
    counts = visit_counts(made.decision, visit.answer_class, visit.correct, min(train, visit.answer_class.size))
    return {
        **counts,
        "minority_recovered": counts["label_right"] * counts["majority_wrong"],
        "majority_lost": counts["label_wrong"] * counts["majority_right"],
        "majority_withheld": float(made.decision.abstained) * counts["majority_right"],
    }


@dataclass
class Agreement:
    """Over all pairs of M rules: groups that both label and label alike, roll-outs that both or neither reward."""

    methods: Sequence[str]
    both: NDArray[np.int64] = field(init=False)
    same_label: NDArray[np.int64] = field(init=False)
    same_reward: NDArray[np.int64] = field(init=False)
    rollouts: int = 0

    def __post_init__(self) -> None:
        self.both, self.same_label, self.same_reward = np.zeros((3, len(self.methods), len(self.methods)), dtype=np.int64)

    def add(self, decisions: Sequence[StoredDecision]) -> None:
        """Count one group; decisions in the order of ``methods``."""
        labels = np.array([-1 if d.decision.abstained or d.decision.pseudo_label is None else d.decision.pseudo_label for d in decisions])
        given = labels >= 0
        self.both += given & given[:, None]
        self.same_label += given & given[:, None] & (labels == labels[:, None])
        paid = np.array([d.decision.rewards > 0 for d in decisions]).astype(np.int64)
        self.same_reward += paid @ paid.T + (1 - paid) @ (1 - paid).T
        self.rollouts += paid.shape[1]

    def table(self) -> pd.DataFrame:
        """A row a pair: shares in [0, 1] with their denominators; NaN where no group has both labels."""
        rows = []
        for a, b in itertools.product(range(len(self.methods)), repeat=2):
            both = int(self.both[a, b])
            rows.append(
                {
                    "method": self.methods[a],
                    "other": self.methods[b],
                    "label_agreement": self.same_label[a, b] / both if both else np.nan,
                    "both_labelled": both,
                    "reward_agreement": self.same_reward[a, b] / self.rollouts,
                    "rollouts": self.rollouts,
                }
            )
        return pd.DataFrame(rows)


Sums = dict[tuple[str, str], dict[str, float]]


def measure(
    visits: Iterable[Visit], decisions: Mapping[str, Path], train: Mapping[str, int], gold: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The audit (a row a method and group of questions: ``all``, by vote margin, by tag) and the agreement between methods.

    ``decisions``: method -> its file, the same groups in the same order. ``gold``: the visits carry verdicts.
    """
    sums: Sums = defaultdict(lambda: defaultdict(float))
    agreement = Agreement(list(decisions))
    streams = zip(*(map(decision_from_json, read_jsonl(path)) for path in decisions.values()), strict=True)
    for visit, made in zip(visits, streams, strict=True):
        agreement.add(made)
        for method, stored in zip(decisions, made, strict=True):
            if (stored.question_id, stored.step) != (visit.question_id, visit.step):
                raise ValueError(f"{decisions[method]}: {stored.question_id!r} stands where {visit.question_id!r} was replayed")
            for name, value in audited_counts(stored, visit, train[method]).items():
                for stratum in visit.strata:
                    sums[method, stratum][name] += value
    return audit_table(sums, list(decisions), gold), agreement.table()


def audit_table(sums: Sums, methods: Sequence[str], gold: bool) -> pd.DataFrame:
    """Counts and rates, methods in the study's order within each group of questions; without gold, the columns that need none."""
    order = sorted(sums, key=lambda key: (key[1] != "all", key[1], methods.index(key[0])))
    table = rates(pd.DataFrame([sums[key] for key in order]))
    shown = table if gold else table[[name for name in BLIND if name in table.columns]]
    names = pd.DataFrame(order, columns=["method", "group"])
    return pd.concat([names, shown], axis=1)
