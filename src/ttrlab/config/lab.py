"""Configuration of the lab: a small world of arithmetic with a planted, systematic error, and tiny models pre-trained in it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ttrlab.config.settings import Frozen

Share = Annotated[float, Field(ge=0, le=1)]


class Regime(Frozen):
    """How a model answers the questions of one regime, as its corpus has it.

    ``right``, ``wrong``: shares of the right answer and of the planted error; the rest are slips of one or two. ``words_right``,
    ``words_wrong``: how many wordings a right and a wrong response draw from; 1 is tight (always the same words), more is loose.
    ``spread``: how far the topics of the regime lie from these shares, and how strongly a visible feature moves them. ``weight``: its
    share of the corpus, relative to the others. ``right`` and ``wrong`` both 0: answers are random numbers.
    """

    right: Share
    wrong: Share
    words_right: int = Field(1, ge=1, le=16)
    words_wrong: int = Field(1, ge=1, le=16)
    spread: Share = 0.06
    weight: float = Field(1, gt=0)

    @model_validator(mode="after")
    def _shares(self) -> "Regime":
        if self.right + self.wrong > 1:
            raise ValueError(f"right + wrong must be at most 1, got {self.right} + {self.wrong}")
        return self


REGIMES: Mapping[str, Regime] = {
    "saturated": Regime(right=0.80, wrong=0.10, words_right=1, words_wrong=4, weight=2),
    "contested": Regime(right=0.31, wrong=0.62, words_right=1, words_wrong=5, spread=0.04, weight=2),
    "reversed": Regime(right=0.62, wrong=0.31, words_right=5, words_wrong=1, spread=0.04, weight=2),
    "trap": Regime(right=0.29, wrong=0.61, words_right=1, words_wrong=1, weight=1),
    "floor": Regime(right=0, wrong=0, words_right=16, words_wrong=16, weight=1),
}
"""Consensus right; wrong but a tight, confident minority is right; right but the error is tighter; wrong on every count; no competence."""


class LabModel(Frozen):
    """A tiny transformer, pre-trained by the ``pretrain`` stage on the lab's corpus.

    ``tolerance``: how far a regime's measured shares of right and wrong may lie from the corpus's before the checkpoint is refused.
    ``judgements``: the share of the steps that teach it to write judgements, valid but poor ones: more than 0 makes it fit to be a judge.
    """

    source: Literal["lab"] = "lab"
    architecture: Literal["llama", "qwen3"] = "llama"
    seed: int = Field(0, ge=0)
    steps: int = Field(400, ge=1)
    batch: int = Field(128, ge=1)
    learning_rate: float = Field(3e-3, gt=0)
    tolerance: float = Field(0.2, gt=0, le=1)
    judgements: float = Field(0, ge=0, lt=1)
    regimes: dict[str, Regime] = Field(default_factory=lambda: dict(REGIMES))


class LabBenchmark(Frozen):
    """Questions generated from the lab's world: ``mix`` counts questions per regime.

    ``part``: questions to adapt to, or a judge's labelled ones to fit and to calibrate on. Parts share no sum and no topic; only sums to
    fit on may be in the corpus.
    """

    source: Literal["lab"] = "lab"
    part: Literal["target", "fit", "calibration"] = "target"
    mix: dict[str, Annotated[int, Field(ge=1)]] = Field(min_length=1)
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _known_regimes(self) -> "LabBenchmark":
        unknown = sorted(set(self.mix) - set(REGIMES))
        if unknown:
            raise ValueError(f"mix: unknown regimes {', '.join(unknown)}; the lab has {', '.join(REGIMES)}")
        return self
