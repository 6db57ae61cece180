"""In which regime a question is, whether its right answer could be recovered, and whether confidence points the right way.

All from the base model's roll-outs (CoRE, arXiv:2608.09324, "Operating regimes" and Propositions 2 and 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ttrlab.config.evidence import RegimeRule
from ttrlab.evaluate.metrics import CORRECT, WRONG, Verdicts, majority_class
from ttrlab.types import FloatArray, IntArray

Regime = Literal["saturated", "contested", "floor"]


def regime(correct: Verdicts, answer_class: IntArray, rule: RegimeRule) -> Regime:
    """Of one question from (n,) verdicts and answer classes; shares are of all n, undecided is not correct."""
    winner = majority_class(answer_class)
    if (correct == CORRECT).mean() <= rule.floor:
        return "floor"
    return "saturated" if winner is not None and (answer_class == winner).mean() >= rule.saturated else "contested"


def regimes(correct: Verdicts, answer_class: IntArray, rule: RegimeRule) -> list[Regime]:
    """One a question for (Q, n) verdicts and answer classes."""
    return [regime(verdicts, classes, rule) for verdicts, classes in zip(correct, answer_class, strict=True)]


def confidence_gap(correct: Verdicts, mean_logprob: FloatArray) -> float:
    """Mean token log-probability of the right roll-outs minus that of the wrong ones, in nats, for (n,) arrays of one question.

    Undecided roll-outs are left out; NaN where either side is empty.
    """
    right, wrong = mean_logprob[correct == CORRECT], mean_logprob[correct == WRONG]
    return float(right.mean() - wrong.mean()) if right.size and wrong.size else float("nan")


@dataclass(frozen=True, slots=True)
class Rivals:
    """The largest correct and the largest wrong answer class of one question, as Propositions 2 and 3 compare them.

    ``n``, ``m``: sizes; ``coherence_*``: mean affinity between two members, NaN for a single one; ``weight_*``: (mean sqrt w)^2 of the
    members' confidence weights; ``gap``: difference of their mean log-probabilities in nats.
    """

    n: int
    m: int
    coherence_correct: float
    coherence_wrong: float
    weight_correct: float
    weight_wrong: float
    gap: float


def rivals(
    correct: Verdicts, answer_class: IntArray, affinity: FloatArray, mean_logprob: FloatArray, temperature: float = 0.25
) -> Rivals | None:
    """Of one question from (n,) verdicts, classes and confidences and the (n, n) uncalibrated affinity; None where a side is missing."""
    right, wrong = (majority_class(np.where(correct == verdict, answer_class, -1)) for verdict in (CORRECT, WRONG))
    if right is None or wrong is None:
        return None
    weights = np.sqrt(np.exp((mean_logprob - mean_logprob.max()) / temperature))
    sides = [np.flatnonzero(answer_class == label) for label in (right, wrong)]
    coherence = [_coherence(affinity[np.ix_(side, side)]) for side in sides]
    strength = [float(weights[side].mean() ** 2) for side in sides]
    return Rivals(
        n=sides[0].size,
        m=sides[1].size,
        coherence_correct=coherence[0],
        coherence_wrong=coherence[1],
        weight_correct=strength[0],
        weight_wrong=strength[1],
        gap=float(mean_logprob[sides[0]].mean() - mean_logprob[sides[1]].mean()),
    )


def _coherence(block: FloatArray) -> float:
    size = block.shape[0]
    return float((block.sum() - np.trace(block)) / (size * (size - 1))) if size > 1 else float("nan")


def recovery(found: Sequence[Rivals], recovered: Sequence[bool]) -> pd.DataFrame:
    """The recovery region, measured: one row a question whose wrong rival is larger (m > n).

    ``disadvantage`` m/n and ``advantage`` c*/c_w are the figure's axes. Thresholds on the advantage: ``static`` (1-1/m)/(1-1/n), the
    global optimum; ``barycentre`` (m-1)/(n-1), Proposition 2; ``calibrated``, Proposition 3: the latter times w_w/w*. ``predicted_*``: the
    advantage exceeds it; ``recovered``: the rule's label was right. A single correct roll-out has no clique: never predicted.
    """
    if len(found) != len(recovered):
        raise ValueError(f"{len(found)} questions, but {len(recovered)} outcomes")
    rows = [_region(rival) | {"recovered": bool(outcome)} for rival, outcome in zip(found, recovered, strict=True) if rival.m > rival.n]
    return pd.DataFrame(rows, columns=[*_REGION, "recovered"])


_AXES = ("disadvantage", "advantage", "static", "barycentre", "calibrated", "gap")
_REGION = (*_AXES, "predicted_static", "predicted_graph", "predicted_calibrated")


def _region(rival: Rivals) -> dict[str, float | bool]:
    lone = rival.n < 2
    advantage = float("nan") if lone else rival.coherence_correct / rival.coherence_wrong
    barycentre = float("inf") if lone else (rival.m - 1) / (rival.n - 1)
    static = float("inf") if lone else (1 - 1 / rival.m) / (1 - 1 / rival.n)
    calibrated = barycentre * rival.weight_wrong / rival.weight_correct
    values = (rival.m / rival.n, advantage, static, barycentre, calibrated, rival.gap)
    return dict(zip(_REGION, (*values, *(bool(advantage > line) for line in (static, barycentre, calibrated))), strict=True))


def region_of(questions: pd.DataFrame) -> pd.DataFrame:
    """``recovery`` of rows that hold the fields of ``Rivals`` and ``recovered``; questions without both rivals are left out."""
    names = list(Rivals.__dataclass_fields__)
    known = (
        questions.dropna(subset=["n", "m"]) if set(names) <= set(questions) else questions.iloc[:0].reindex(columns=[*names, "recovered"])
    )
    found = [Rivals(int(row[0]), int(row[1]), *map(float, row[2:])) for row in known[names].itertuples(index=False, name=None)]
    return recovery(found, known["recovered"].astype(bool).tolist())


def agreement(region: pd.DataFrame, prediction: str = "predicted_calibrated") -> dict[str, float]:
    """How often a prediction met the outcome: counts of the four cases and their agreement; NaN without questions."""
    predicted, seen = region[prediction].astype(bool), region["recovered"].astype(bool)
    counts = {
        "predicted_and_recovered": int((predicted & seen).sum()),
        "predicted_only": int((predicted & ~seen).sum()),
        "recovered_only": int((~predicted & seen).sum()),
        "neither": int((~predicted & ~seen).sum()),
    }
    return {**counts, "n": len(region), "agreement": float((predicted == seen).mean()) if len(region) else float("nan")}


def operative_line(disadvantage: FloatArray, gap: float, temperature: float = 0.25) -> FloatArray:
    """The paper's drawn threshold on c*/c_w: about exp(-gap / temperature) m/n (0.29 m/n at its gap of 0.309 nats)."""
    return np.exp(-gap / temperature) * disadvantage
