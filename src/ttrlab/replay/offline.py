"""What the base model's roll-outs say before any training: regimes, the recovery region, labels against the number of votes.

Read from the stored evaluation roll-outs of the model as given; gold is joined after the rules have decided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np
import pandas as pd

from ttrlab.config.evidence import RegimeRule
from ttrlab.consensus.affinity import affinity, reasoning_kernel, same_answer
from ttrlab.evaluate.audit import visit_counts
from ttrlab.evaluate.metrics import CORRECT, Verdicts, gold_of, grade, majority_class
from ttrlab.evaluate.regimes import confidence_gap, regime, rivals
from ttrlab.pools import PoolRow
from ttrlab.replay.groups import group_from_pool, is_usable, pool_needs
from ttrlab.rewards import Rule
from ttrlab.rewards.core import Core
from ttrlab.rewards.scope import SubgroupRule
from ttrlab.types import Question, RolloutGroup

LEAST_VOTES = 2


def question_rows(rows: Sequence[PoolRow], gold: Mapping[str, str], core: Core, rule: RegimeRule) -> pd.DataFrame:
    """One row a question: its regime, confidence gap (nats), rivals, and whether ``core`` recovers the right answer from these roll-outs.

    Columns of ``Rivals`` are missing where no roll-out is right or none is wrong. ``recovered`` and ``majority``: the label is right.
    """
    found = []
    for row in rows:
        group = _group(row, core)
        correct = grade(row.answers, gold_of(row.question_id, gold))
        label = core(group).pseudo_label
        kernel = reasoning_kernel(group.signal(core.similarity).astype(np.float64), core.reasoning_kernel)
        confidence = group.signal("mean_logprob").astype(np.float64)
        both = rivals(correct, group.answer_class, affinity(same_answer(group.answer_class), kernel, core.kappa), confidence, core.tau)
        found.append(
            {
                "question_id": row.question_id,
                "seed": row.seed,
                "rollouts": group.n,
                "regime": regime(correct, group.answer_class, rule),
                "correct": float((correct == CORRECT).mean()),
                "confidence_gap": confidence_gap(correct, confidence),
                "recovered": _right(label, group, correct),
                "majority": _right(majority_class(group.answer_class), group, correct),
                **({} if both is None else asdict(both)),
            }
        )
    return pd.DataFrame(found)


def _right(label: int | None, group: RolloutGroup, correct: Verdicts) -> bool:
    """True where the label's first roll-out is right."""
    return label is not None and bool(correct[np.argmax(group.answer_class == label)] == CORRECT)


def vote_rows(rows: Sequence[PoolRow], gold: Mapping[str, str], rules: Mapping[str, Rule], batch: int) -> pd.DataFrame:
    """One row a (method, votes, question): the share of right labels when a rule sees only so many of the question's roll-outs.

    For N = n, n/2, n/4, ... the n roll-outs are cut into blocks of N in sampling order, so each is used once at every N; a question's share
    is the mean over its blocks, no label counting as not right. ``batch``: questions that a batch-scope rule sees at once. Rules that ask
    gold or a judge, that need signals which the roll-outs lack, or that give no labels, have no rows.
    """
    usable = {name: rule for name, rule in rules.items() if not (rule.needs_gold or rule.needs_judge) and _serves(rows, rule)}
    verdicts = [grade(row.answers, gold_of(row.question_id, gold)) for row in rows]
    found = []
    for votes in sizes(min(len(row.texts) for row in rows)):
        for name, rule in usable.items():
            if isinstance(rule, SubgroupRule) and rule.bootstrap is not None and rule.bootstrap > votes:
                continue  # it cannot draw as many from so few
            shares = _shares(rows, verdicts, rule, votes, batch)
            found += [{"method": name, "votes": votes, "question_id": question, "right": share} for question, share in shares.items()]
    return pd.DataFrame(found, columns=["method", "votes", "question_id", "right"])


def sizes(most: int) -> list[int]:
    """n, n/2, n/4, ... down to ``LEAST_VOTES``, ascending."""
    found = []
    while most >= LEAST_VOTES:
        found.append(most)
        most //= 2
    return found[::-1]


def _serves(rows: Sequence[PoolRow], rule: Rule) -> bool:
    return all(is_usable(row, name) for row in rows for name in pool_needs(rule))


def _shares(rows: Sequence[PoolRow], verdicts: Sequence[Verdicts], rule: Rule, votes: int, batch: int) -> dict[str, float]:
    """Question id -> mean share of right labels over its blocks; empty where the rule labels nothing at all."""
    right: dict[str, list[float]] = {row.question_id: [] for row in rows}
    labelled = 0.0
    for place in range(min(len(row.texts) for row in rows) // votes):
        part = slice(place * votes, (place + 1) * votes)
        for start in range(0, len(rows), batch):
            chunk = range(start, min(start + batch, len(rows)))
            groups = [_group(block(rows[at], part), rule) for at in chunk]
            for at, group, decision in zip(chunk, groups, rule.decide_all(groups), strict=True):
                counts = visit_counts(decision, group.answer_class, verdicts[at][part], votes)
                right[rows[at].question_id].append(counts["label_right"])
                labelled += sum(counts[f"label_{end}"] for end in ("right", "wrong", "undecided"))
    return {question: float(np.mean(shares)) for question, shares in right.items()} if labelled else {}


def _group(row: PoolRow, rule: Rule) -> RolloutGroup:
    return group_from_pool(row, Question(row.question_id, row.question_id), rule.needs)


def block(row: PoolRow, part: slice) -> PoolRow:
    """Some of a row's roll-outs, as if no others had been drawn."""
    signals = {name: values[part] for name, values in row.signals.items()}
    return replace(
        row, texts=row.texts[part], answers=row.answers[part], truncated=row.truncated[part], tokens=row.tokens[part], signals=signals
    )
