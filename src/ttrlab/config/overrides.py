"""What a study changes for some of its cells, and which cells those are."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from ttrlab.config.judge import JudgeConfig
from ttrlab.config.settings import Frozen, SamplingOverride, TrainingOverride

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class When(Frozen):
    """Which cells a setting applies to: every given key must match; an empty ``when`` matches all."""

    model: tuple[Name, ...] | Name | None = None
    benchmark: tuple[Name, ...] | Name | None = None
    method: tuple[Name, ...] | Name | None = None

    def matches(self, model: str, benchmark: str, method: str | None) -> bool:
        """True when each given key names the value. ``method`` None: roll-outs of no method, a rectifier's source."""
        return all(
            wanted is None or value in ((wanted,) if isinstance(wanted, str) else wanted)
            for wanted, value in ((self.model, model), (self.benchmark, benchmark), (self.method, method))
        )

    def names(self) -> Iterator[tuple[str, str]]:
        """(kind, name) of everything that is mentioned."""
        for kind, wanted in (("models", self.model), ("benchmarks", self.benchmark), ("methods", self.method)):
            for name in (wanted,) if isinstance(wanted, str) else wanted or ():
                yield kind, name


class Setting(Frozen):
    """Overrides for the cells that ``when`` matches; later settings win. ``judge`` replaces the judge of a method whose rule asks one."""

    when: When = When()
    training: TrainingOverride | None = None
    sampling: SamplingOverride | None = None
    judge: JudgeConfig | None = None


class Deployment(Frozen):
    """Answers chosen by a judge from endpoint roll-outs: every judge on the same pools, so that judges and selectors can be compared.

    ``judges``: methods of the catalogue whose judge is asked. ``methods``: whose endpoints it judges; none named: all of the study.
    """

    judges: tuple[Name, ...] = Field(min_length=1)
    methods: tuple[Name, ...] = ()
