"""What a study's jobs have to do, in units that a cost model prices: tokens, roll-outs, updates. Read off the plan; nothing is run."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ttrlab.adapt.schedule import checkpoint_steps, steps_per_episode, total_steps, total_updates
from ttrlab.config.catalogue import Model
from ttrlab.config.judge import JudgeConfig, Rectifier
from ttrlab.config.settings import Training
from ttrlab.config.study import Cell, Plan

Unit = Literal["job", "step", "open", "load", "tokens", "trained", "decided", "judged", "graded", "bytes", "corpus"]


@dataclass(frozen=True, slots=True)
class Work:
    """One phase of one job: ``amount`` of a ``unit``, done by ``model``.

    ``job``, ``open``, ``step``: starts, first loads of a model, steps. ``load``, ``bytes``: bytes read or written.
    ``tokens``, ``trained``, ``judged``: sequences sampled, trained on and judged, each of at most ``longest`` new tokens after at most
    ``prompt`` tokens, ``together`` in one call. ``decided``, ``graded``: roll-outs. ``corpus``: sequences of a lab model's
    pre-training. ``passes``: forward passes beside the three that a trained token costs (old log-probs, reference).
    """

    cell: Cell | None
    stage: str
    phase: str
    unit: Unit
    amount: float
    model: str
    method: str = ""
    benchmark: str = ""
    longest: int = 0
    prompt: int = 0
    together: int = 1
    passes: int = 0


BYTES = {"float32": 4, "bfloat16": 2}
SCORED_TWICE = 2
"""Answers of a roll-out are compared with gold and with each other."""


def cell_work(plan: Plan, cell: Cell, parameters: float) -> Iterator[Work]:
    """All work of one cell; ``parameters`` of its model."""
    if plan.method(cell).reward is not None:
        yield from _adaptation(plan, cell, parameters)
    yield from _evaluations(plan, cell, parameters)


def _adaptation(plan: Plan, cell: Cell, parameters: float) -> Iterator[Work]:
    training, sampling, rows = plan.training(cell), plan.sampling(cell), plan.benchmark(cell).rows
    steps = total_steps(rows, training)
    questions = _visits(rows, training)
    width = BYTES[training.dtype]

    def work(phase: str, unit: Unit, amount: float, **shape: int) -> Work:
        return Work(cell, "adapt", phase, unit, amount, cell.model, cell.method, cell.benchmark, **shape)

    shape = {"longest": sampling.max_new_tokens, "prompt": sampling.max_prompt_tokens}
    several = total_updates(rows, training) > steps
    yield work("start", "job", 1)
    yield work("load", "open", 1)
    yield work("load", "load", width * parameters)
    yield work("first", "job", 1)
    yield work("sample", "tokens", questions * training.votes, together=training.batch * training.votes, **shape)
    yield work("decide", "decided", questions * training.votes)
    judge = plan.method(cell).judge
    if judge is not None:
        yield judging(judge, cell, questions * training.votes, training.batch * training.votes)
    yield work("update", "trained", questions * training.train, passes=int(several) + int(training.kl_coefficient > 0), **shape)
    yield work("write", "step", steps)
    kept = len(checkpoint_steps(rows, training)) * width + -(-steps // training.state_every) * (2 * 4 + width)
    yield work("write", "bytes", kept * parameters)
    rollouts = questions * training.votes
    yield Work(cell, "audit", "start", "job", 1, cell.model, cell.method, cell.benchmark)
    yield Work(cell, "audit", "audit", "graded", rollouts, cell.model, cell.method, cell.benchmark)


def judging(judge: JudgeConfig, cell: Cell | None, asked: float, together: int) -> Work:
    """The judgements of ``asked`` roll-outs, if all were asked about."""
    shape = {"longest": judge.limits.output_tokens, "prompt": judge.limits.input_tokens, "together": together}
    method, benchmark = (cell.method, cell.benchmark) if cell else ("", "")
    return Work(cell, "adapt", "decide", "judged", asked, judge.model, method, benchmark, **shape)


def _visits(rows: int, training: Training) -> float:
    """Questions sampled over a whole adaptation, repetitions counted."""
    per_pass = {"short": rows, "drop": rows - rows % training.batch, "wrap": -(-rows // training.batch) * training.batch}
    steps = total_steps(rows, training)
    return steps * per_pass[training.last_batch] / steps_per_episode(rows, training)


def _evaluations(plan: Plan, cell: Cell, parameters: float) -> Iterator[Work]:
    study, training, sampling, rows = plan.study, plan.training(cell), plan.sampling(cell), plan.benchmark(cell).rows
    evaluation = study.evaluation
    points = checkpoint_steps(rows, training)[:-1] if plan.method(cell).reward is not None else ()
    points = points[:: evaluation.curve_every] if evaluation.curve_every else ()
    greedy = "greedy" in evaluation.metrics
    graded = 0.0
    for stage, count, samples in (("evaluate", 1, evaluation.samples + greedy), ("curve", len(points), evaluation.curve_samples)):
        if not count:
            continue
        shape = {"longest": sampling.max_new_tokens, "prompt": sampling.max_prompt_tokens, "together": min(32, rows) * samples}
        rollouts = count * rows * samples
        yield Work(cell, stage, "start", "job", 1, cell.model, cell.method, cell.benchmark)
        yield Work(cell, stage, "load", "open", 1, cell.model, cell.method, cell.benchmark)
        yield Work(cell, stage, "load", "load", count * BYTES["bfloat16"] * parameters, cell.model, cell.method, cell.benchmark)
        yield Work(cell, stage, "sample", "tokens", rollouts, cell.model, cell.method, cell.benchmark, **shape)
        graded += rollouts
    yield Work(cell, "score", "start", "job", 1, cell.model, cell.method, cell.benchmark)
    yield Work(cell, "score", "grade", "graded", SCORED_TWICE * graded, cell.model, cell.method, cell.benchmark)


def shared_work(plan: Plan) -> Iterator[Work]:
    """Work that cells share: pre-training of the lab's models, and the training of rectifiers."""
    models = {model for model, _ in plan.study.model_benchmarks}
    judges = [plan.catalogue.methods[name].judge for name in plan.study.methods]
    models |= {judge.model for judge in judges if judge is not None}
    for name in sorted(models):
        entry = plan.catalogue.models[name]
        if entry.source == "lab":
            yield Work(None, "pretrain", "start", "job", 1, name)
            yield Work(None, "pretrain", "train", "corpus", entry.steps * entry.batch, name)
    seen: list[tuple[str, Rectifier]] = []
    for judge in judges:
        if judge is not None and judge.rectifier is not None and (judge.model, judge.rectifier) not in seen:
            seen.append((judge.model, judge.rectifier))
            yield from rectifier_work(judge, judge.rectifier)


def rectifier_work(judge: JudgeConfig, rectifier: Rectifier) -> Iterator[Work]:
    """One rectifier: judgements sampled and trained on; expansions are the cost model's assumption."""
    training, limits = rectifier.training, judge.limits
    longest, prompt = limits.output_tokens, limits.input_tokens
    batch = training.settings.batch * training.judgements
    judgements = training.updates * batch
    yield Work(None, "rectifier", "start", "job", 1, judge.model)
    yield Work(None, "rectifier", "sample", "judged", judgements, judge.model, longest=longest, prompt=prompt, together=batch)
    yield Work(None, "rectifier", "update", "trained", judgements, judge.model, longest=longest, prompt=prompt, passes=1)


def parameters_of(name: str, entry: Model, lab: dict[str, float]) -> float:
    """Parameters of a model; ValueError with the key to set when the catalogue does not state them."""
    if entry.parameters is not None:
        return float(entry.parameters)
    if entry.source == "lab":
        return lab[entry.architecture]
    raise ValueError(f"models.{name}.parameters: not given, so nothing that runs it has a price; state their number in the catalogue")
