"""Train a rectifier on labelled source candidates. It reads no target, neither its questions nor its gold."""

from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from ttrlab.adapt.schedule import total_updates
from ttrlab.benchmarks import arithmetic
from ttrlab.benchmarks.lab import judging
from ttrlab.config.rectify import RectifySpec
from ttrlab.engines import import_engine, open_policy
from ttrlab.files import digest, exclusive, read_jsonl, sha256, write_json, write_jsonl
from ttrlab.meter import Meter, metered
from ttrlab.provenance import write_manifest
from ttrlab.rectifier.prompt import PROMPTS, judge_style
from ttrlab.rectifier.source import Candidate, category_weights
from ttrlab.rectifier.train import RectifierRun, RectifierStep, judgement_rows, step_record, train_rectifier
from ttrlab.seeds import rng
from ttrlab.stages import rundir
from ttrlab.stages.command import parse, read_spec, run

WRITTEN = {"lab": judging.written_judgement, "arithmetic": arithmetic.written_judgement}
"""Wording -> what writes a perfect judgement about a question and an answer, where the question can be worked out."""


def training_run(spec: RectifySpec, candidates: Sequence[Candidate]) -> RectifierRun:
    """The training of a spec on ``candidates``; a warm start imitates the judgements that their world writes about them."""
    targets = None
    if spec.training.warm_start_updates:
        draws = [rng(spec.seed, "written judgement", one.question_id, one.index) for one in candidates]
        written = WRITTEN[spec.judge.wording]
        targets = [written(draw, one.item.question, one.item.answer) for draw, one in zip(draws, candidates, strict=True)]
    weights = category_weights(candidates, spec.alphas)
    return RectifierRun(spec.training, candidates, weights, PROMPTS[spec.judge.wording], spec.judge.limits, spec.seed, targets)


def write_step(folder: Path, step: RectifierStep, sizes: Sequence[int]) -> None:
    """Write a step's record, and the judgements that it learnt from (a warm start has none)."""
    name = rundir.step_name(step.number)
    write_json(folder / "steps" / f"{name}.json", step_record(step, sizes))
    if step.groups:
        write_jsonl(folder / "judgements" / f"{name}.jsonl.gz", judgement_rows(step))


def run_steps(spec: RectifySpec, training: RectifierRun, model: str, folder: Path, meter: Meter, stop: rundir.StopRequest) -> None:
    """The steps that are not done yet, each written when it is; RuntimeError when asked to stop before the last."""
    settings, last = spec.training.settings, spec.training.steps
    with meter.phase("import"):
        meter.devices(import_engine(spec.engine))
    with meter.phase("load"):
        style, updates = judge_style(spec.judge.style), total_updates(settings.batch, settings)
        policy = open_policy(spec.engine, model, spec.judge.revision, style, "math", settings, updates, spec.seed)
        done = rundir.resume(folder, policy)
    steps = train_rectifier(training, policy, done)
    for number in tqdm(range(done + 1, last + 1), initial=done, total=last, unit="step", disable=None):
        with meter.phase("train", number) as counts:
            step = next(steps)
            counts["tokens"] = sum(len(rollout.token_ids) for group in step.groups for rollout in group.rollouts)
        with meter.phase("write", number):
            write_step(folder, step, spec.training.sizes)
            if number in spec.training.checkpoint_steps:
                rundir.write_checkpoint(folder, policy, number)
            if number % settings.state_every == 0 or stop.name:
                rundir.write_state(folder, policy, number)
        if stop.name and number < last:
            raise RuntimeError(f"{folder}: stopped by {stop.name} after step {number} of {last}; the next call goes on there")


def main() -> None:
    """Run or resume the training in ``--out`` from ``--candidates`` and the judge's ``--model``; the manifest there is written last."""
    arguments = parse(__doc__, "candidates", "model", "out")
    spec = read_spec(RectifySpec, arguments.spec)
    folder, source = Path(arguments.out), Path(arguments.candidates)
    training = training_run(spec, [Candidate.from_json(row) for row in read_jsonl(source)])
    stop, model = rundir.StopRequest(), rundir.model_identity(arguments.model)
    with exclusive(folder.parent / f".{folder.name}.lock"):
        identity = {"spec": spec.model_dump(mode="json"), "candidates": sha256(source), "model": model}
        rundir.begin(folder, identity)
        with metered(folder, "rectify", digest(identity)) as meter:
            run_steps(spec, training, arguments.model, folder, meter, stop)
            write_manifest(folder / "manifest.json", "rectify", spec.model_dump(mode="json"), [source], rundir.finish(folder))


if __name__ == "__main__":
    run(main)
