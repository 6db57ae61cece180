"""The jobs behind a trained judge, and how they are shared: one source a (policy, questions), one rectifier a (source, judge, training).

Names are readable and end in a digest of all that decides the result, so that one name never means two things and equal entries of
several methods, cells and seeds are one folder.
"""

from dataclasses import dataclass

from ttrlab.config.judge import CheckpointSelection, JudgeConfig, Rectifier, RectifierTraining
from ttrlab.config.settings import Frozen
from ttrlab.config.specs import AdaptSpec, CellName, Engine, EvaluateSpec, JudgeForm, JudgeSpec, judge_form, revision, sampling_engine
from ttrlab.config.study import Cell, Plan
from ttrlab.files import digest
from ttrlab.rewards import Majority

SHOWN = 8
"""Characters of a digest that stand in a name."""


class LabelSpec(Frozen):
    """Sort the source roll-outs into labelled candidates. ``alphas``: the categories' priorities, for the report."""

    judge: JudgeForm
    alphas: tuple[float, float, float, float]


class RectifySpec(Frozen):
    """Train a rectifier on labelled candidates."""

    engine: Engine
    judge: JudgeForm
    training: RectifierTraining
    alphas: tuple[float, float, float, float]
    seed: int


class FreezeSpec(Frozen):
    """Choose among ``steps``, the checkpoints of a rectifier, by their judgements on the calibration candidates."""

    engine: Engine
    judge: JudgeForm
    selection: CheckpointSelection
    steps: tuple[int, ...]


class DeploySpec(Frozen):
    """Judge the endpoint roll-outs of a cell."""

    judge: JudgeSpec


class SelectSpec(Frozen):
    """Grade what the selectors choose by the judgements of ``judge``, a method's name; ``lab``: its reasons can be graded, too."""

    cell: CellName
    judge: str
    lab: bool


@dataclass(frozen=True, slots=True)
class SourceJobs:
    """Roll-outs of a policy on the questions to fit and to calibrate on. ``warm_up``: the adaptation before them, if any."""

    name: str
    policy: str
    benchmarks: tuple[str, str]
    warm_up: AdaptSpec | None
    samples: tuple[EvaluateSpec, EvaluateSpec]


@dataclass(frozen=True, slots=True)
class RectifierJobs:
    """A rectifier from labels to its frozen checkpoint. ``frozen``: name of the choice among checkpoints."""

    name: str
    model: str
    source: SourceJobs
    label: LabelSpec
    train: RectifySpec
    frozen: str
    freeze: FreezeSpec


def source_jobs(plan: Plan, policy: str, rectifier: Rectifier) -> SourceJobs:
    """The source of ``rectifier`` when ``policy`` is the cell's own model."""
    source = rectifier.source
    policy = source.policy or policy
    warm_up = _warm_up(plan, policy, rectifier)
    steps = (0,) if source.warm_up is None else (source.warm_up.updates,)
    parts = (source.benchmark, source.calibration)
    samples = [_samples(plan, policy, part, rectifier, steps) for part in parts]
    decided = [policy, parts, warm_up and warm_up.model_dump(mode="json"), [one.model_dump(mode="json") for one in samples]]
    return SourceJobs(f"{policy}-{source.benchmark}-{digest(decided)[:SHOWN]}", policy, parts, warm_up, (samples[0], samples[1]))


def _samples(plan: Plan, policy: str, benchmark: str, rectifier: Rectifier, steps: tuple[int, ...]) -> EvaluateSpec:
    model, source = plan.catalogue.models[policy], rectifier.source
    sampling = plan.sampling_of(policy, benchmark, None).model_copy(update={"temperature": source.temperature})
    return EvaluateSpec(
        seed=rectifier.seed,
        kind=plan.catalogue.benchmarks[benchmark].kind,
        engine=sampling_engine(plan),
        prompt=model.prompt,
        revision=revision(model),
        samples=source.candidates,
        greedy=False,
        sampling=sampling,
        steps=steps,
    )


def _warm_up(plan: Plan, policy: str, rectifier: Rectifier) -> AdaptSpec | None:
    warm_up = rectifier.source.warm_up
    if warm_up is None:
        return None
    model, benchmark = plan.catalogue.models[policy], plan.catalogue.benchmarks[warm_up.benchmark]
    return AdaptSpec(
        model=policy,
        benchmark=warm_up.benchmark,
        method="warm_up",
        seed=rectifier.seed,
        kind=benchmark.kind,
        rows=benchmark.rows,
        engine=plan.study.engine,
        prompt=model.prompt,
        revision=revision(model),
        rule=Majority(),
        sampling=plan.sampling_of(policy, warm_up.benchmark, None),
        training=plan.training_of(policy, warm_up.benchmark, None).model_copy(update={"updates": warm_up.updates}),
    )


def rectifier_jobs(plan: Plan, cell: Cell, judge: JudgeConfig) -> RectifierJobs | None:
    """The jobs that train a cell's ``judge``; None for a model that is used as it is."""
    rectifier = judge.rectifier
    if rectifier is None:
        return None
    form = judge_form(plan, judge)
    source = source_jobs(plan, cell.model, rectifier)
    label = LabelSpec(judge=form, alphas=rectifier.source.alphas)
    train = RectifySpec(
        engine=plan.study.engine, judge=form, training=rectifier.training, alphas=rectifier.source.alphas, seed=rectifier.seed
    )
    decided = digest([source.name, judge.model, train.model_dump(mode="json")])[:SHOWN]
    selection = rectifier.selection
    return RectifierJobs(
        name=f"{judge.model}-{rectifier.source.benchmark}-{decided}",
        model=judge.model,
        source=source,
        label=label,
        train=train,
        frozen=f"{selection.by}-{selection.max_invalid:g}",
        freeze=FreezeSpec(engine=sampling_engine(plan), judge=form, selection=selection, steps=rectifier.training.checkpoint_steps),
    )
