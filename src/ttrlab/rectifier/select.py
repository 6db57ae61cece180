"""Choosing a final answer from judged roll-outs at deployment (TRUER, equation 7 and Tables 16, 17), with what each choice costs.

A selector reads judgements that were made for every eligible roll-out and says which of them it used, so that one judged pool serves all
selectors. All are label-free. Answers are ranked by votes of all parsed roll-outs, ties in sampling order; where no judgement passes, the
majority is chosen. Groups carry ``judge_fits``, ``judge_score`` and ``judge_tokens`` (``judge_eligible`` fills them in).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ttrlab.rectifier.judge import Judge, eligibility, group_item
from ttrlab.rectifier.judgement import ACCEPT
from ttrlab.rewards.base import RELATIVE_TIE, ranked_classes
from ttrlab.types import RolloutGroup

JUDGEMENTS = ("judge_fits", "judge_score", "judge_tokens")
"""Signals of a group that ``judge_eligible`` fills in."""


def judge_eligible(groups: Sequence[RolloutGroup], judge: Judge) -> list[RolloutGroup]:
    """The groups with every eligible roll-out judged, all in one batch: ``judge_fits`` (n,) bool, ``judge_score`` (n,) float64
    (NaN where not eligible), ``judge_tokens`` (n,) int64 output tokens."""
    fits = [eligibility(group, judge) for group in groups]
    asked = [(g, int(i)) for g, eligible in enumerate(fits) for i in np.flatnonzero(eligible)]
    scores = [np.full(group.n, np.nan) for group in groups]
    tokens = [np.zeros(group.n, np.int64) for group in groups]
    for (g, i), judged in zip(asked, judge.judge([group_item(groups[g], i) for g, i in asked]), strict=True):
        scores[g][i], tokens[g][i] = judged.score, judged.tokens
    return [
        replace(group, signals={**group.signals, "judge_fits": f, "judge_score": s, "judge_tokens": t})
        for group, f, s, t in zip(groups, fits, scores, tokens, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen class (None: nothing was parsed) and the roll-outs whose judgements were used."""

    label: int | None
    used: tuple[int, ...] = ()


def majority(group: RolloutGroup) -> Selection:
    """The answer with most votes; no judgement."""
    return Selection(next(iter(ranked_classes(group).tolist()), None))


def weighted(group: RolloutGroup) -> Selection:
    """S(a) = sum_{i in V_a} max(s_i - 4, 0) / sqrt(n_a), V_a the valid judgements of a's eligible members, n_a = |V_a| > 0 (equation 7).

    The largest S wins; ties go to more votes, then to the first in sampling order (not stated in the paper). No passing score at all:
    majority.
    """
    members = {label: _eligible(group, label) for label in ranked_classes(group).tolist()}
    support = {label: _support([_score(group, i) for i in indices]) for label, indices in members.items()}
    used = tuple(sorted(i for indices in members.values() for i in indices))
    best = max(support.values(), default=0.0)
    if best <= 0:
        return replace(majority(group), used=used)
    return Selection(next(label for label, value in support.items() if value >= best * (1 - RELATIVE_TIE)), used)


def sequential(group: RolloutGroup) -> Selection:
    """The cascade: the first eligible member of rank 1; after its explicit rejection that of rank 2; majority if neither passes.

    Unlike the training rule it never abstains: ties are ranked in sampling order (neither is stated in the paper).
    """
    used: list[int] = []
    for label in ranked_classes(group).tolist()[:2]:
        representative = _eligible(group, label)[:1]
        used += representative
        score = _score(group, *representative) if representative else None
        if score is not None and score >= ACCEPT:
            return Selection(label, tuple(sorted(used)))
        if score is None or score < 0:
            break
    return replace(majority(group), used=tuple(sorted(used)))


def top2_representatives(group: RolloutGroup) -> Selection:
    """The better of one representative each of the two largest answers."""
    return _best_passing(group, clusters=2, members=1)


def top2(group: RolloutGroup) -> Selection:
    """The best passing member of the two largest answers ("Top2: all candidates", "Top2, score first")."""
    return _best_passing(group, clusters=2)


def top3(group: RolloutGroup) -> Selection:
    """The best passing member of the three largest answers ("Top3, score first")."""
    return _best_passing(group, clusters=3)


def every(group: RolloutGroup) -> Selection:
    """The best passing roll-out of all ("All32: all candidates")."""
    return _best_passing(group)


SELECTORS: Mapping[str, Callable[[RolloutGroup], Selection]] = {
    "majority": majority,
    "weighted": weighted,
    "sequential": sequential,
    "top2_representatives": top2_representatives,
    "top2": top2,
    "top3": top3,
    "all": every,
}
"""Name -> selector. ``weighted`` is equation 7; the others are Table 16's and 17's."""


@dataclass(frozen=True, slots=True)
class SelectionCost:
    """Judgements used, and their output tokens (Table 18); prompts and the roll-outs themselves are not counted."""

    judgements: int
    output_tokens: int


def selection_cost(groups: Sequence[RolloutGroup], selections: Sequence[Selection]) -> SelectionCost:
    """What one selector's ``selections`` over ``groups`` cost."""
    used = [int(group.signal("judge_tokens")[i]) for group, chosen in zip(groups, selections, strict=True) for i in chosen.used]
    return SelectionCost(len(used), sum(used))


def _eligible(group: RolloutGroup, label: int) -> list[int]:
    """Eligible members of a class, in sampling order."""
    return [int(i) for i in np.flatnonzero(group.signal("judge_fits").astype(bool) & (group.answer_class == label))]


def _score(group: RolloutGroup, index: int) -> int:
    score = float(group.signal("judge_score")[index])
    if np.isnan(score):
        raise ValueError(f"question {group.question.id!r}: roll-out {index} is eligible but was not judged")
    return int(score)


def _support(scores: Sequence[int]) -> float:
    valid = [score for score in scores if score >= 0]
    return sum(max(score - ACCEPT + 1, 0) for score in valid) / len(valid) ** 0.5 if valid else 0.0


def _best_passing(group: RolloutGroup, clusters: int | None = None, members: int | None = None) -> Selection:
    """Judge the first ``members`` of the first ``clusters`` answers (None: all); rank those that pass by score, then votes, then sampling
    order."""
    judged = [i for label in ranked_classes(group).tolist()[:clusters] for i in _eligible(group, label)[:members]]
    passing = [i for i in judged if _score(group, i) >= ACCEPT]
    used = tuple(sorted(judged))
    if not passing:
        return replace(majority(group), used=used)
    counts = group.counts
    best = min(passing, key=lambda i: (-_score(group, i), -counts[group.answer_class[i]], i))
    return Selection(int(group.answer_class[best]), used)
