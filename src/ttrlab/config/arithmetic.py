"""Configuration of generated arithmetic for real language models."""

from typing import Literal

from pydantic import Field

from ttrlab.config.settings import Frozen

Operation = Literal["sum", "product"]


class TwoDigit(Frozen):
    """Two-digit sums, or products of a two-digit and a one-digit number.

    ``first``: from which place of the seeded shuffle on. ``wording``: the question around ``{sum}``, such as 27 + 35; two benchmarks of
    one wording are one family of questions, and no judge may learn from one and meet the other.
    """

    source: Literal["two-digit"] = "two-digit"
    operation: Operation
    first: int = Field(0, ge=0)
    seed: int = Field(0, ge=0)
    wording: str = Field("What is {sum}?", pattern=r"^[^{}]*\{sum\}[^{}]*$")
