"""Adapt one policy to one benchmark's questions. Reads gold only when ``--gold`` is given, which the workflow does for the oracle."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from ttrlab.adapt.card import model_card
from ttrlab.adapt.loop import adapt
from ttrlab.adapt.schedule import checkpoint_steps, total_steps, total_updates
from ttrlab.benchmarks import read_questions
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines import ENGINES, import_engine, open_policy
from ttrlab.files import digest, exclusive, is_whole, sha256
from ttrlab.grading import use_cache
from ttrlab.meter import Meter, metered
from ttrlab.provenance import write_manifest
from ttrlab.rectifier.stored import JUDGEMENTS
from ttrlab.stages import ladder, rundir
from ttrlab.stages.budget import BUDGET, Budget
from ttrlab.stages.command import PROOFS, parse, read_spec, run
from ttrlab.stages.gold import grader
from ttrlab.stages.judge import judge_of
from ttrlab.stages.launch import run_cluster
from ttrlab.types import Question


def checked(spec: AdaptSpec, questions_file: Path, gold: bool) -> Sequence[Question]:
    """The questions of a spec; ValueError where files and spec do not fit each other."""
    questions = read_questions(questions_file)
    if len(questions) != spec.rows:
        raise ValueError(f"{questions_file}: {len(questions)} questions, but the benchmark entry states rows: {spec.rows}")
    if gold != spec.rule.needs_gold:
        raise ValueError(f"rule {spec.rule.rule!r} {'needs' if spec.rule.needs_gold else 'must not get'} --gold")
    if spec.rule.needs_judge and spec.judge is None:
        raise ValueError(f"rule {spec.rule.rule!r} needs a judge, and the spec has none")
    return questions


def first_weights(spec: AdaptSpec, model: str, start: str | None, budget: str | None) -> tuple[str, str | None]:
    """Weights and revision that the policy starts with: the model's, or those at the end of the run in ``start``.

    ValueError when a continuation lacks ``start`` or ``budget``, another run has one, or the continued run did not end where it should.
    """
    if [start is not None, budget is not None] != [spec.continues is not None] * 2:
        raise ValueError("--start and --budget belong to a method that continues another, and it needs both")
    if start is None:
        return model, spec.revision
    folder = Path(start) / "checkpoints" / rundir.step_name(spec.before)
    if not is_whole(folder):
        raise ValueError(f"{folder}: missing or damaged; rerun the adaptation: snakemake -f {Path(start) / 'manifest.json'}")
    return str(folder), None


def run_steps(
    spec: AdaptSpec, questions: Sequence[Question], arguments: Namespace, folder: Path, meter: Meter, stop: rundir.StopRequest
) -> None:
    """The steps that are not done yet, each written when it is; RuntimeError when asked to stop before the last."""
    with meter.phase("import"):
        meter.devices(import_engine(spec.engine))
    with meter.phase("load"):
        updates = total_updates(spec.rows, spec.training)
        weights, revision = first_weights(spec, arguments.model, arguments.start, arguments.budget)
        training = ladder.smaller_training(spec.training, ladder.rung(folder))
        policy = open_policy(
            *(spec.engine, weights, revision, spec.prompt, spec.kind, training, updates, spec.seed),
            reference=(arguments.model, spec.revision) if spec.continues else None,
        )
        done, last = max(rundir.resume(folder, policy), spec.before), spec.before + total_steps(spec.rows, spec.training)
        grade = grader(Path(arguments.gold)) if arguments.gold else None
        frozen = Path(arguments.frozen) if arguments.frozen else None
        judge = judge_of(spec.judge, arguments.judge, frozen, questions, folder / JUDGEMENTS) if spec.judge else None
    base = arguments.model if spec.revision else spec.model
    keep = {spec.before + step for step in checkpoint_steps(spec.rows, spec.training)}
    steps = adapt(spec, questions, policy, ENGINES[spec.engine].token_stats, done, judge, grade, meter)
    budget = Budget.of(spec.continues, Path(arguments.start), Path(arguments.budget), folder) if spec.continues else None
    if budget is not None:
        steps = budget.limit(steps, begun=done > spec.before)
    for step in tqdm(steps, initial=done, total=last, unit="step", disable=None, desc=spec.method):
        with meter.phase("write", step.number):
            stored = (step.number - 1) % spec.training.store_rollouts_every == 0 or step.number == last
            rundir.write_step(folder, step, stored or budget is not None)
            if step.number in keep:
                rundir.write_checkpoint(folder, policy, step.number, model_card(spec, base, step.number, last))
            if step.number % spec.training.state_every == 0 or stop.name:
                rundir.write_state(folder, policy, step.number)
        if stop.name and step.number < last:
            raise RuntimeError(f"{folder}: stopped by {stop.name} after step {step.number} of {last}; the next call goes on there")
        done = step.number
    if budget is not None:
        if done not in keep:
            rundir.write_checkpoint(folder, policy, done, model_card(spec, base, done, done))
        budget.write(folder / BUDGET, done)


def main() -> None:
    """Run or resume an adaptation in ``--out``; the manifest there is written last."""
    arguments = parse(__doc__, "questions", "model", "out", optional=("gold", "judge", "frozen", "start", "budget", "hardware"))
    use_cache(PROOFS)
    spec = read_spec(AdaptSpec, arguments.spec)
    folder, questions_file = Path(arguments.out), Path(arguments.questions)
    frozen = Path(arguments.frozen) if arguments.frozen else None
    continued = [Path(run) / "manifest.json" for run in (arguments.start, arguments.budget) if run]
    questions = checked(spec, questions_file, bool(arguments.gold))
    stop = rundir.StopRequest()
    with exclusive(folder.parent / f".{folder.name}.lock"):
        identity = {
            "spec": spec.model_dump(mode="json"),
            "questions": sha256(questions_file),
            "model": rundir.model_identity(arguments.model),
            "judge": rundir.model_identity(arguments.judge) if spec.judge else None,
            "frozen": sha256(frozen) if frozen else None,
            "continued": [sha256(manifest) for manifest in continued],
        }
        rundir.begin(folder, identity)
        with metered(folder, "adapt", digest(identity)) as meter:
            if spec.engine == "openrlhf":
                run_cluster(spec, questions, arguments, folder, meter, stop)
            else:
                smaller = ladder.smaller_training(spec.training, ladder.rung(folder))
                with ladder.recorded(folder, {"micro_batch": smaller.micro_batch}):
                    run_steps(spec, questions, arguments, folder, meter, stop)
            inputs = {file.name: sha256(file) for file in [questions_file, *([frozen] if frozen else [])]}
            inputs |= {str(manifest): sha256(manifest) for manifest in continued}
            write_manifest(folder / "manifest.json", "adapt", spec.model_dump(mode="json"), inputs, rundir.finish(folder))


if __name__ == "__main__":
    run(main)
