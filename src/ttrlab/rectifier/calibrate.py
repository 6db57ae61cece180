"""Freezing a rectifier: judge the calibration candidates with each checkpoint, choose one by a stated rule, record what was chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ttrlab.config.judge import CheckpointSelection, JudgeLimits
from ttrlab.files import digest
from ttrlab.rectifier.judge import Judge, judge_identity
from ttrlab.rectifier.metrics import judge_counts, judge_rates
from ttrlab.rectifier.prompt import JudgePrompt
from ttrlab.rectifier.source import Candidate
from ttrlab.types import IntArray


@dataclass(frozen=True, slots=True)
class CheckpointScore:
    """A checkpoint on the calibration candidates: Table 13's columns as shares."""

    step: int
    candidates: int
    accuracy: float
    wrong_accepted: float
    correct_withheld: float
    invalid: float

    @property
    def balanced(self) -> float:
        """Mean accuracy on right and wrong candidates, where an invalid judgement of a wrong candidate is no acceptance."""
        return 1 - (self.wrong_accepted + self.correct_withheld) / 2


def counts_by_question(judge: Judge, candidates: Sequence[Candidate]) -> dict[str, IntArray]:
    """Question id -> (6,) counts (``metrics.COUNTS``) of a judge on labelled candidates, all asked in one batch."""
    verdicts = judge.judge([candidate.item for candidate in candidates])
    by_question: dict[str, list[tuple[int, bool]]] = {}
    for candidate, verdict in zip(candidates, verdicts, strict=True):
        by_question.setdefault(candidate.question_id, []).append((verdict.score, candidate.correct))
    return {question: judge_counts(*zip(*pairs, strict=True)) for question, pairs in by_question.items()}


def checkpoint_score(step: int, counts: Mapping[str, IntArray]) -> CheckpointScore:
    """The score of one checkpoint. ValueError unless there are both right and wrong candidates: no rule could choose without them."""
    summed = np.sum(list(counts.values()), axis=0)
    if not counts or not (summed[0] and summed[1]):
        raise ValueError(f"calibration needs right and wrong candidates, got (right, wrong, ...) = {summed.tolist()}")
    return CheckpointScore(step, int(summed[0] + summed[1]), *(float(rate) for rate in judge_rates(summed)))


def choose_checkpoint(scores: Sequence[CheckpointScore], selection: CheckpointSelection) -> CheckpointScore:
    """The checkpoint to freeze; see ``CheckpointSelection`` for the rule. ValueError for no checkpoints."""
    if not scores:
        raise ValueError("no checkpoints to choose from")

    def rank(score: CheckpointScore) -> tuple[bool, float, float, float, float, int]:
        value = score.accuracy if selection.by == "accuracy" else score.balanced
        return (score.invalid > selection.max_invalid, -value, score.wrong_accepted, score.correct_withheld, score.invalid, score.step)

    return min(scores, key=rank)


def frozen_record(
    chosen: CheckpointScore,
    scores: Sequence[CheckpointScore],
    selection: CheckpointSelection,
    weights: Mapping[str, str],
    prompt: JudgePrompt,
    limits: JudgeLimits,
) -> dict[str, Any]:
    """What is written beside a frozen rectifier. ``weights``: relative path -> SHA-256 of its files; ``rectifier`` is their digest, and
    ``identity`` that of the judge which it is: adaptation records it."""
    rectifier = digest(dict(weights))
    return {
        "step": chosen.step,
        "within_limits": chosen.invalid <= selection.max_invalid,
        "selection": selection.model_dump(mode="json"),
        "calibration": [{**asdict(score), "balanced": score.balanced} for score in scores],
        "rectifier": rectifier,
        "prompt": {"version": prompt.version, "hash": prompt.hash},
        "limits": limits.model_dump(mode="json"),
        "identity": judge_identity(rectifier, prompt, limits),
    }
