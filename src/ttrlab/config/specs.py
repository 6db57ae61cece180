"""One spec a stage: exactly what the stage depends on, and nothing else, so that a change reruns what it must and no more."""

from typing import Literal

from pydantic import Field

from ttrlab.config.catalogue import AnswerKind, Benchmark, LabPolicy, Model, PromptStyle
from ttrlab.config.continuation import Continuing
from ttrlab.config.evidence import Evidence, RegimeRule
from ttrlab.config.judge import JudgeConfig, JudgeHome, JudgeLimits, Wording
from ttrlab.config.settings import Frozen, Sampling, Training
from ttrlab.config.study import Cell, Plan
from ttrlab.rewards import RewardRule
from ttrlab.rewards.core import Core

Engine = Literal["torch", "vllm", "openrlhf"]


class PrepareSpec(Frozen):
    """Write one benchmark's questions and gold."""

    name: str
    benchmark: Benchmark


class PretrainSpec(Frozen):
    """Pre-train one lab model."""

    name: str
    model: LabPolicy


class JudgeForm(Frozen):
    """What a judge is asked and how long it may be: the wording, its model's own prompt style and revision, the limits."""

    wording: Wording
    style: PromptStyle
    revision: str | None
    limits: JudgeLimits


class JudgeSpec(Frozen):
    """A judge at work. ``model``: its catalogue name; ``engine``: what samples it in this process; ``trained``: its weights are a frozen
    rectifier's."""

    model: str
    form: JudgeForm
    home: JudgeHome
    engine: Engine
    trained: bool


class AdaptSpec(Frozen):
    """Adapt one model to one benchmark by one method with one seed. Nothing in it, or reachable from it, is gold.

    ``licence``: of the model, for the card of the adapted one.
    """

    model: str
    benchmark: str
    method: str
    seed: int
    kind: AnswerKind
    rows: int
    engine: Engine
    prompt: PromptStyle
    revision: str | None
    rule: RewardRule
    sampling: Sampling
    training: Training
    judge: JudgeSpec | None = None
    licence: str | None = None
    continues: Continuing | None = None

    @property
    def before(self) -> int:
        """Steps of the run that this one continues: 0 for a run of its own."""
        return self.continues.after if self.continues else 0


LAST = -1
"""In place of a step: the last checkpoint, where planning cannot know its step."""


class EvaluateSpec(Frozen):
    """Sample from checkpoints of one cell: of ``steps``, 0 is the model as given and ``LAST`` the last checkpoint. One greedy roll-out
    more if ``greedy``."""

    seed: int
    kind: AnswerKind
    engine: Engine
    prompt: PromptStyle
    revision: str | None
    samples: int = Field(ge=1)
    greedy: bool
    sampling: Sampling
    steps: tuple[int, ...] = Field(min_length=1)


class CellName(Frozen):
    """The columns that name a cell in every table."""

    model: str
    benchmark: str
    method: str
    seed: int


class ScoreSpec(Frozen):
    """Grade the evaluation roll-outs of one cell by the named metrics."""

    cell: CellName
    metrics: tuple[str, ...]


class AuditSpec(Frozen):
    """Join the training roll-outs and decisions of one cell with gold. ``train``: the trained roll-outs of each group."""

    cell: CellName
    train: int


def adapt_spec(plan: Plan, cell: Cell) -> AdaptSpec:
    """The spec of a cell's adaptation; ValueError for a method without a reward rule."""
    rule = plan.method(cell).reward
    if rule is None:
        raise ValueError(f"method {cell.method!r} has no reward rule, so it has no adapt job")
    model, benchmark = plan.model(cell), plan.benchmark(cell)
    return AdaptSpec(
        model=cell.model,
        benchmark=cell.benchmark,
        method=cell.method,
        seed=cell.seed,
        kind=benchmark.kind,
        rows=benchmark.rows,
        engine=plan.study.engine,
        prompt=model.prompt,
        revision=revision(model),
        rule=rule,
        sampling=plan.sampling(cell),
        training=plan.training(cell),
        judge=judge_spec(plan, judge) if (judge := plan.judge(cell)) else None,
        licence=model.licence,
    )


def judge_form(plan: Plan, judge: JudgeConfig) -> JudgeForm:
    """A judge's wording and limits with what its model's catalogue entry says."""
    model = plan.catalogue.models[judge.model]
    return JudgeForm(wording=judge.prompt, style=model.prompt, revision=revision(model), limits=judge.limits)


def judge_spec(plan: Plan, judge: JudgeConfig) -> JudgeSpec:
    """The spec of a judge at work. How it was trained is not in it: its frozen record is the stage's input."""
    return JudgeSpec(model=judge.model, form=judge_form(plan, judge), home=judge.home, engine=sampling_engine(plan), trained=judge.trained)


def sampling_engine(plan: Plan) -> Engine:
    """What samples from weights that lie still: a study's engine, or vLLM where a cluster trains."""
    return "vllm" if plan.study.engine == "openrlhf" else plan.study.engine


def evaluate_spec(plan: Plan, cell: Cell, steps: tuple[int, ...], endpoint: bool) -> EvaluateSpec:
    """The spec of sampling a cell's endpoint, or the points of its learning curve."""
    evaluation, model = plan.study.evaluation, plan.model(cell)
    return EvaluateSpec(
        seed=cell.seed,
        kind=plan.benchmark(cell).kind,
        engine=sampling_engine(plan),
        prompt=model.prompt,
        revision=revision(model),
        samples=evaluation.samples if endpoint else evaluation.curve_samples,
        greedy=endpoint and "greedy" in evaluation.metrics,
        sampling=plan.sampling(cell).model_copy(update={"temperature": evaluation.temperature, "top_p": evaluation.top_p, "top_k": 0}),
        steps=steps,
    )


def score_spec(plan: Plan, cell: Cell) -> ScoreSpec:
    """The spec of grading a cell."""
    return ScoreSpec(cell=cell_name(cell), metrics=plan.study.evaluation.metrics)


def audit_spec(plan: Plan, cell: Cell) -> AuditSpec:
    """The spec of auditing a cell's rewards."""
    return AuditSpec(cell=cell_name(cell), train=plan.training(cell).train)


def cell_name(cell: Cell) -> CellName:
    """The columns that name ``cell``."""
    return CellName(model=cell.model, benchmark=cell.benchmark, method=cell.method, seed=cell.seed)


def revision(model: Model) -> str | None:
    """The hub revision of a model, None for one that lies on disk."""
    return model.revision if model.source == "hub" else None


class AggregateSpec(Frozen):
    """Tables and figures of a study: which metrics, the first of them the main one, and the order of methods."""

    study: str
    metrics: tuple[str, ...] = Field(min_length=1)
    methods: tuple[str, ...]


class EvidenceSpec(AggregateSpec):
    """The study's comparisons: of its methods, and with the papers."""

    evidence: Evidence = Evidence()


class OfflineSpec(Frozen):
    """What the base model's roll-outs on one benchmark say: ``rules`` label them, ``core`` is the one whose recoveries are asked for."""

    model: str
    benchmark: str
    rules: dict[str, RewardRule]
    core: RewardRule
    batch: int
    regimes: RegimeRule


def offline_spec(plan: Plan, cell: Cell) -> OfflineSpec:
    """The spec of a base cell; CoRE at the paper's setting where the study has no method of that name."""
    rules = {name: rule for name in plan.study.methods if (rule := plan.catalogue.methods[name].reward) is not None}
    own = [rule for name, rule in rules.items() if name == "core" and rule.rule == "core"]
    core = own[0] if own else Core()
    batch = plan.training(cell).batch
    return OfflineSpec(model=cell.model, benchmark=cell.benchmark, rules=rules, core=core, batch=batch, regimes=plan.study.evidence.regimes)
