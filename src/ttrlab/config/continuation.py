"""Runs that go on from another method's endpoint until a budget is spent: the budget-matched controls of TRUER's appendix F."""

from typing import Literal

from pydantic import Field

from ttrlab.config.settings import Frozen, Training

Unit = Literal["tokens", "seconds", "active_groups"]
"""What a budget counts: sampled tokens (judgements included), wall-clock seconds times devices, groups with an advantage other than 0."""


class Continuation(Frozen):
    """``method``'s run goes on from its endpoint until all that was spent since its first step, in units of ``until``, reaches what the
    run of method ``of`` spent; after ``at_most`` further steps it stops in any case, and says so."""

    method: str
    of: str
    until: Unit
    at_most: int = Field(ge=1)

    def training(self, settings: Training) -> Training:
        """The continued method's ``settings`` for the steps to come: the learning rate is constant, for their number is not known."""
        return settings.model_copy(update={"updates": self.at_most, "schedule": "constant", "warmup_ratio": 0.0, "warmup_steps": 0})


class Continuing(Continuation):
    """A continuation of one cell: its first step is the one ``after`` the last of the continued run."""

    after: int = Field(ge=1)
