"""What a replay depends on: the rules with their names, how answers are read, how groups form batches."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from pydantic import Field

from ttrlab.config.catalogue import AnswerKind, Catalogue
from ttrlab.config.settings import Frozen
from ttrlab.config.study import Cell, Plan
from ttrlab.rewards import RewardRule

JUDGED = ("judge_score", "judge_fits")
"""Signals that a judge supplies."""

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


def study_rules(plan: Plan, names: Collection[str] = (), catalogue: Catalogue | None = None) -> dict[str, RewardRule]:
    """Method name -> rule: all of the study's that have one, or the named ones, which may also stand in the ``catalogue`` alone.

    ValueError for a name that is in neither, and when no rule is left.
    """
    known = {**(catalogue.methods if catalogue else {}), **{name: plan.catalogue.methods[name] for name in plan.study.methods}}
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(f"unknown methods {unknown}; study {plan.study.study!r} and the catalogue have {', '.join(sorted(known))}")
    rules = {name: rule for name in names or plan.study.methods if (rule := known[name].reward) is not None}
    if not rules:
        raise ValueError(f"study {plan.study.study!r}: none of {', '.join(names or plan.study.methods)} has a reward rule to replay")
    return rules


def replay_spec(
    plan: Plan,
    rules: Mapping[str, RewardRule],
    kind: AnswerKind | None = None,
    train: int | None = None,
    batch: int | None = None,
    benchmark: str | None = None,
) -> ReplaySpec:
    """The replay of ``rules`` with a study's settings.

    ``kind``, ``train`` and ``batch`` are the study's where all its cells (of ``benchmark``) agree; ValueError asks for the option where
    they do not. ``batch`` given: steps are cut to it.
    """
    cells = [cell for cell in plan.cells if benchmark is None or cell.benchmark == benchmark]
    if not cells:
        raise ValueError(f"study {plan.study.study!r} has no benchmark {benchmark!r}; it has {sorted({c.benchmark for c in plan.cells})}")
    return ReplaySpec(
        study=plan.study.study,
        kind=kind or _only({plan.benchmark(cell).kind for cell in cells}, "kinds of answers", "--kind"),
        batch=batch if batch is not None else _only({plan.training(cell).batch for cell in cells}, "batch sizes", "--batch"),
        cut=batch is not None,
        methods={
            name: ReplayMethod(rule=rule, train=train if train is not None else _train(plan, cells, name)) for name, rule in rules.items()
        },
    )


def cell_spec(plan: Plan, cell: Cell) -> str:
    """The replay of one cell's training roll-outs through the study's methods; a judge's rules only where the cell's own asked one."""
    own, training = plan.method(cell).reward, plan.training(cell)
    judged = own is not None and own.needs_judge
    rules = {name: rule for name, rule in study_rules(plan).items() if judged or not rule.needs_judge}
    spec = replay_spec(plan, rules, plan.benchmark(cell).kind, training.train, training.batch)
    return spec.model_copy(update={"cut": False}).model_dump_json()


def _train(plan: Plan, cells: Sequence[Cell], method: str) -> int:
    """Trained roll-outs of a method's cells; for a method that the study does not have, those of all cells."""
    own = [cell for cell in cells if cell.method == method] or cells
    return _only({plan.training(cell).train for cell in own}, f"numbers of trained roll-outs for {method}", "--train")


def _only(values: set[Value], what: str, option: str) -> Value:
    if len(values) != 1:
        raise ValueError(f"the study has several {what} ({', '.join(map(str, sorted(values)))}); say which by {option}")
    return next(iter(values))
