"""How a study is judged against the papers: written in its YAML before a run, frozen with the plan, read by the report."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from ttrlab.config.settings import Frozen

PaperName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]


class VerdictRule(Frozen):
    """When a printed number counts as reproduced. Numbers in the paper's units (per cent, points).

    A **difference** of size d, and "fewer steps by d", is *reproduced* when our interval excludes 0 on the paper's side and our estimate
    is at least ``effect_share`` of d; *contradicted* when the interval lies below ``effect_share`` of d, so that even that part of the
    claim is ruled out. A printed difference smaller than ``negligible`` is a claim of "no difference" and treated as a value.
    A **value** v is *reproduced* when our interval lies within ``tolerance`` of v (points; ``relative`` of v in other units),
    *contradicted* when it lies outside altogether. A **lower bound** is reproduced when our interval lies above it, contradicted below.
    **Settings won**, and the p-value of a test over settings, are reproduced when that test rejects at ``alpha`` on the paper's side
    over our settings, contradicted when it rejects on the other.
    Everything else is *unresolved*, as is anything measured with fewer than ``min_seeds`` seeds.
    """

    effect_share: float = Field(0.5, gt=0, le=1)
    negligible: float = Field(0.3, ge=0)
    tolerance: float = Field(2.0, gt=0)
    relative: float = Field(0.1, gt=0)
    alpha: float = Field(0.05, gt=0, lt=1)
    min_seeds: int = Field(3, ge=1)


class RegimeRule(Frozen):
    """Where the regimes end; the paper names them and gives no numbers.

    ``floor``: at most this share of the roll-outs is correct, so there is nothing to recover. ``saturated``: at least this share gives one
    answer. The floor is asked first: a unanimous wrong answer is at the floor.
    """

    floor: float = Field(0.05, ge=0, lt=1)
    saturated: float = Field(0.9, gt=0.5, le=1)


class Evidence(Frozen):
    """``papers``: tables in ``config/paper`` that the study is compared with. ``verdict``, ``regimes``: the rules. ``plateau_tail``:
    checkpoints at the end of a curve whose mean is its plateau.

    ``names``: our name of a model, benchmark or method -> the paper's, where they differ. ``models``, ``benchmarks``: the paper's name of a
    group (a family, "all", "average") -> ours in it; every cell counts once in the group's mean.
    """

    papers: tuple[PaperName, ...] = ()
    verdict: VerdictRule = VerdictRule()
    regimes: RegimeRule = RegimeRule()
    plateau_tail: int = Field(1, ge=1)
    names: dict[str, str] = Field(default_factory=dict)
    models: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    benchmarks: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_meaning_a_name(self) -> "Evidence":
        theirs = list(self.names.values())
        doubled = sorted({name for name in theirs if theirs.count(name) > 1})
        if doubled:
            raise ValueError(f"names: {', '.join(doubled)} stands for several of our names")
        return self

    def rules(self) -> dict[str, float]:
        """Every threshold by its key: what must stand before a run."""
        thresholds = {f"verdict.{key}": float(value) for key, value in self.verdict.model_dump().items()}
        thresholds |= {f"regimes.{key}": float(value) for key, value in self.regimes.model_dump().items()}
        return thresholds | {"plateau_tail": float(self.plateau_tail)}

    def ours(self, name: str) -> str:
        """Our name of what the paper calls ``name``."""
        return {theirs: mine for mine, theirs in self.names.items()}.get(name, name)

    def strangers(self, models: tuple[str, ...], benchmarks: tuple[str, ...], methods: tuple[str, ...]) -> Iterator[str]:
        """Faults, one a text: names in here that a study with these models, benchmarks and methods does not have."""
        known = {*models, *benchmarks, *methods}
        for name in self.names:
            if name not in known:
                yield f"evidence.names: {name!r} is no model, benchmark or method of the study"
        groups: tuple[tuple[str, Mapping[str, tuple[str, ...]], tuple[str, ...]], ...]
        groups = (("models", self.models, models), ("benchmarks", self.benchmarks, benchmarks))
        for kind, named, there in groups:
            for group, members in named.items():
                for member in members:
                    if member not in there:
                        yield f"evidence.{kind}.{group}: {member!r} is none of the study's {kind}"


def check_papers(evidence: Evidence, folder: Path) -> None:
    """Refuse a paper that ``folder`` has no table of."""
    known = sorted(path.stem for path in folder.glob("*.csv"))
    for paper in evidence.papers:
        if paper not in known:
            raise ValueError(f"evidence.papers: unknown name {paper!r}; {folder} has {', '.join(known) or 'no tables'}")
