"""What a replay depends on: the rules with their names, how answers are read, how groups form batches."""

from collections.abc import Collection
from typing import TypeVar

from pydantic import Field

from ttrlab.config.catalogue import AnswerKind
from ttrlab.config.settings import Frozen
from ttrlab.config.study import Cell, Plan
from ttrlab.rewards import RewardRule

Value = TypeVar("Value", int, AnswerKind)


class ReplayMethod(Frozen):
    """A rule, and how many roll-outs of a group a training run would train on (the first ``train``; all of a smaller group)."""

    rule: RewardRule
    train: int = Field(ge=1)


class ReplaySpec(Frozen):
    """``batch``: groups that a batch-scope rule sees at once where the pool has no steps (step 0); otherwise a step is a batch.

    ``cut``: steps are cut to ``batch`` groups too, for evaluation pools, in which a whole benchmark is one step.
    """

    study: str
    kind: AnswerKind
    batch: int = Field(ge=1)
    cut: bool = False
    methods: dict[str, ReplayMethod] = Field(min_length=1)


def replay_spec(
    plan: Plan,
    methods: Collection[str] = (),
    kind: AnswerKind | None = None,
    train: int | None = None,
    batch: int | None = None,
    benchmark: str | None = None,
) -> ReplaySpec:
    """The replay of a study's methods (all that have a rule, or the named ones).

    ``kind``, ``train`` and ``batch`` are the study's where all its cells (of ``benchmark``) agree; ValueError asks for the option where
    they do not. ``batch`` given: steps are cut to it.
    """
    unknown = sorted(set(methods) - set(plan.study.methods))
    if unknown:
        raise ValueError(f"methods {unknown} are not in study {plan.study.study!r}; it has {', '.join(plan.study.methods)}")
    cells = [cell for cell in plan.cells if benchmark is None or cell.benchmark == benchmark]
    chosen = {name: rule for name in methods or plan.study.methods if (rule := plan.catalogue.methods[name].reward) is not None}
    if not chosen:
        raise ValueError(f"study {plan.study.study!r}: none of {', '.join(methods or plan.study.methods)} has a reward rule to replay")
    trained = {name: _train(plan, [cell for cell in cells if cell.method == name], train) for name in chosen}
    return ReplaySpec(
        study=plan.study.study,
        kind=kind or _only({plan.benchmark(cell).kind for cell in cells}, "kinds of answers", "--kind"),
        batch=batch or _only({plan.training(cell).batch for cell in cells}, "batch sizes", "--batch"),
        cut=batch is not None,
        methods={name: ReplayMethod(rule=rule, train=trained[name]) for name, rule in chosen.items()},
    )


def _train(plan: Plan, cells: list[Cell], train: int | None) -> int:
    return train or _only({plan.training(cell).train for cell in cells}, f"numbers of trained roll-outs for {cells[0].method}", "--train")


def _only(values: set[Value], what: str, option: str) -> Value:
    if len(values) != 1:
        raise ValueError(f"the study has several {what} ({', '.join(map(str, sorted(values)))}); say which by {option}")
    return next(iter(values))
