"""Predictions of the papers as differences that should be above 0, and whether they were: by the interval alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ttrlab.evaluate import bootstrap
from ttrlab.evaluate.contrasts import Contrast, contrast_table, contrasts_from
from ttrlab.evaluate.regimes import region_of
from ttrlab.report.tables import markdown

ENDPOINTS = (
    ("TTRL", "trained on its own vote, a policy ends above where it began", "majority", "base"),
    ("CoRE", "CoRE ends above the vote", "core", "majority"),
    ("CoRE", "structure adds to confidence: CoRE ends above CISC", "core", "cisc"),
    ("SCOPE", "SCOPE ends above the vote", "scope", "majority"),
    ("TRUER", "a judge's cascade ends above the vote", "truer", "majority"),
    ("all", "labels are the limit: gold rewards end above the vote", "oracle", "majority"),
)
"""(paper, prediction, method, baseline): the method's main metric minus the baseline's is above 0."""


@dataclass(frozen=True, slots=True)
class Found:
    """A prediction on one benchmark: the difference that should be above 0, its 95 % interval, of how many questions and seeds.

    ``unit``: ``points`` for shares, ``nats``, or ``""`` for a plain number.
    """

    paper: str
    prediction: str
    benchmark: str
    value: float
    low: float
    high: float
    n: int
    seeds: int
    unit: str = "points"

    @property
    def verdict(self) -> str:
        """``held``, ``contradicted``, or ``open`` where the interval contains 0."""
        return "held" if self.low > 0 else "contradicted" if self.high < 0 else "open"


def endpoint_predictions(questions: pd.DataFrame, metric: str) -> list[Found]:
    """``ENDPOINTS`` wherever both methods were scored, with the interval over questions and seeds."""
    return [
        found
        for paper, prediction, method, baseline in ENDPOINTS
        for found in _tested(paper, prediction, contrasts_from(questions, metric, method, baseline))
    ]


def beyond_the_vote(questions: pd.DataFrame, metric: str, vote: str) -> list[Found]:
    """TTRL's "beyond maj@n": the trained policy's ``metric`` minus the ``vote`` metric of the model that it started from."""
    base = questions[(questions["method"] == "base") & (questions["metric"] == vote)].assign(metric=metric)
    both = pd.concat([questions[(questions["method"] == "majority") & (questions["metric"] == metric)], base], ignore_index=True)
    prediction = f"trained on its vote, a policy's {metric} passes the {vote} that it started from"
    return _tested("TTRL", prediction, contrasts_from(both, metric, "majority", "base"))


def _tested(paper: str, prediction: str, contrasts: Sequence[Contrast]) -> list[Found]:
    if not contrasts:
        return []
    return [
        Found(paper, prediction, row["benchmark"], row["difference"], row["population_low"], row["population_high"], row["n"], row["seeds"])
        for row in contrast_table(contrasts).to_dict("records")
    ]


def lucky_hits(audit: pd.DataFrame) -> list[Found]:
    """TTRL's "lucky hit": rewards are right more often than the vote's labels; interval over training steps, as the policy changes.

    ``audit``: rows of single steps; those without a label are left out.
    """
    found = []
    prediction = "wrong labels still give right rewards: reward accuracy is above label accuracy, by step"
    for benchmark, block in audit[audit["method"] == "majority"].groupby("benchmark", sort=False):
        gaps = (block["reward_accuracy"] - block["label_accuracy"]).dropna().to_numpy(dtype=np.float64)
        if gaps.size > 1:
            found.append(_mean("TTRL", prediction, str(benchmark), gaps, block["seed"].nunique(), "points"))
    return found


SIGNS = (
    ("right roll-outs are more confident than wrong ones of the same question", "confidence_gap", "nats"),
    ("the largest right class is more coherent than the largest wrong one", "coherence_gap", ""),
)
"""What CoRE builds on: (prediction, column of ``with_gaps``, unit)."""


def with_gaps(offline: pd.DataFrame) -> pd.DataFrame:
    """``question_rows`` with ``coherence_gap``, right minus wrong; NaN where a class is missing or has one member."""
    return offline.assign(coherence_gap=offline["coherence_correct"] - offline["coherence_wrong"])


def offline_predictions(offline: Mapping[str, pd.DataFrame]) -> list[Found]:
    """CoRE's premises on the base model's roll-outs. ``offline``: benchmark -> ``question_rows`` of all its seeds, ``run``."""
    found = []
    for benchmark, rows in offline.items():
        for prediction, column, unit in SIGNS:
            by_question = with_gaps(rows).groupby("question_id")[column].mean().dropna() if "coherence_correct" in rows else pd.Series()
            if len(by_question) > 1:
                found.append(_mean("CoRE", prediction, benchmark, by_question.to_numpy(dtype=np.float64), rows["run"].nunique(), unit))
        found += _region(benchmark, rows)
    return found


def _mean(paper: str, prediction: str, benchmark: str, values: np.ndarray, seeds: int, unit: str) -> Found:
    weights = bootstrap.resample_weights(values.size, name=benchmark)
    interval = bootstrap.paired(values[None], weights)
    low, high = float(interval.low[0]), float(interval.high[0])
    return Found(paper, prediction, benchmark, float(values.mean()), low, high, values.size, seeds, unit)


def _region(benchmark: str, rows: pd.DataFrame) -> list[Found]:
    """Proposition 3: does its threshold tell which right minorities are recovered, better than always saying what happens more often?"""
    region = region_of(rows)
    if len(region) < 2:
        return []
    predicted, recovered = (region[name].to_numpy(dtype=bool) for name in ("predicted_calibrated", "recovered"))
    usual = recovered.mean() > 0.5
    gain = (predicted == recovered).astype(np.float64) - (recovered == usual)
    prediction = (
        f"Proposition 3 tells which right minorities win (it says {predicted.sum()}, {recovered.sum()} of {len(region)} did), "
        "better than saying the same of all"
    )
    return [_mean("CoRE", prediction, benchmark, gain, int(rows["run"].nunique()), "points")]


def prediction_table(tested: Mapping[str, Sequence[Found]]) -> str:
    """All predictions with their verdicts, study -> what it found."""
    found = [one for made in tested.values() for one in made]
    rows = [
        {
            "study": study,
            "paper": one.paper,
            "prediction": one.prediction,
            "benchmark": one.benchmark,
            "measured": _shown(one),
            "n": one.n,
            "seeds": one.seeds,
            "verdict": one.verdict,
        }
        for study, made in tested.items()
        for one in made
    ]
    counts = {verdict: sum(one.verdict == verdict for one in found) for verdict in ("held", "contradicted", "open")}
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    caption = (
        f"Predictions as differences that should be above 0: {said}. Held: the 95 % interval lies above 0; contradicted: below; open: it "
        "contains 0. The papers speak of large models on competition mathematics; this says whether the mechanism shows here."
    )
    return markdown(pd.DataFrame(rows), caption)


def _shown(one: Found) -> str:
    scale, digits = (100, 1) if one.unit == "points" else (1, 2)
    value, low, high = (f"{scale * number:+.{digits}f}" for number in (one.value, one.low, one.high))
    return f"{value} [{low}, {high}] {one.unit}".strip()
