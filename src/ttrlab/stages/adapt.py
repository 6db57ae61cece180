"""Adapt one policy to one benchmark's questions. Reads gold only when ``--gold`` is given, which the workflow does for the oracle."""

import signal
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from tqdm import tqdm

from ttrlab.adapt.card import model_card
from ttrlab.adapt.loop import adapt
from ttrlab.adapt.schedule import checkpoint_steps, total_steps, total_updates
from ttrlab.benchmarks import read_questions
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines import ENGINES, import_engine, open_policy, open_sampler
from ttrlab.engines.base import Sampler
from ttrlab.files import HASHES, digest, exclusive, read_json, sha256
from ttrlab.grading import use_cache
from ttrlab.meter import Meter, metered
from ttrlab.provenance import write_manifest
from ttrlab.rectifier.homes import open_judge
from ttrlab.rectifier.judge import CountTokens, Judge
from ttrlab.rectifier.stored import JUDGEMENTS
from ttrlab.stages import rundir
from ttrlab.stages.command import PROOFS, parse, read_spec, run
from ttrlab.stages.gold import grader
from ttrlab.types import Question


class StopRequest:
    """Set by SIGTERM and SIGUSR1 (preemption, a time limit close by): stop at the next step boundary."""

    def __init__(self) -> None:
        self.name: str | None = None
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.name = signal.Signals(number).name


def judge_of(spec: AdaptSpec, weights: str, questions: Sequence[Question], folder: Path) -> Judge:
    """The judge of a spec, behind a cache in the run's folder so that a redone step asks nothing twice."""
    assert spec.judge is not None
    settings = spec.judge

    def load(style: PromptStyle) -> tuple[Sampler, CountTokens]:
        sampler = open_sampler(spec.engine, weights, settings.revision, style, "math")
        return sampler, sampler.prompt_tokens

    texts = {question.id: question.prompt for question in questions}
    identity = model_identity(weights)
    return open_judge(settings.config, digest(identity), settings.prompt, load, texts, folder / JUDGEMENTS)


def model_identity(weights: str) -> object:
    """What a model is known by: the hashes of its files where they are recorded, otherwise its name."""
    recorded = Path(weights) / HASHES
    return read_json(recorded) if recorded.is_file() else weights


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


def run_steps(spec: AdaptSpec, questions: Sequence[Question], arguments: Namespace, folder: Path, meter: Meter, stop: StopRequest) -> None:
    """The steps that are not done yet, each written when it is; RuntimeError when asked to stop before the last."""
    with meter.phase("import"):
        meter.devices(import_engine(spec.engine))
    with meter.phase("load"):
        updates = total_updates(spec.rows, spec.training)
        policy = open_policy(spec.engine, arguments.model, spec.revision, spec.prompt, spec.kind, spec.training, updates, spec.seed)
        done, last = rundir.resume(folder, policy), total_steps(spec.rows, spec.training)
        grade = grader(Path(arguments.gold)) if arguments.gold else None
        judge = judge_of(spec, arguments.judge, questions, folder) if spec.judge else None
    base = arguments.model if spec.revision else spec.model
    keep = set(checkpoint_steps(spec.rows, spec.training))
    steps = adapt(spec, questions, policy, ENGINES[spec.engine].token_stats, done, judge, grade, meter)
    for step in tqdm(steps, initial=done, total=last, unit="step", disable=None, desc=spec.method):
        with meter.phase("write", step.number):
            rundir.write_step(folder, step, (step.number - 1) % spec.training.store_rollouts_every == 0 or step.number == last)
            if step.number in keep:
                rundir.write_checkpoint(folder, policy, step.number, model_card(spec, base, step.number, last))
            if step.number % spec.training.state_every == 0 or stop.name:
                rundir.write_state(folder, policy, step.number)
        if stop.name and step.number < last:
            raise RuntimeError(f"{folder}: stopped by {stop.name} after step {step.number} of {last}; the next call goes on there")


def main() -> None:
    """Run or resume an adaptation in ``--out``; the manifest there is written last."""
    arguments = parse(__doc__, "questions", "model", "out", optional=("gold", "judge"))
    use_cache(PROOFS)
    spec = read_spec(AdaptSpec, arguments.spec)
    folder, questions_file = Path(arguments.out), Path(arguments.questions)
    questions = checked(spec, questions_file, bool(arguments.gold))
    stop = StopRequest()
    with exclusive(folder.parent / f".{folder.name}.lock"):
        identity = {
            "spec": spec.model_dump(mode="json"),
            "questions": sha256(questions_file),
            "model": model_identity(arguments.model),
            "judge": model_identity(arguments.judge) if spec.judge else None,
        }
        rundir.begin(folder, identity)
        with metered(folder, "adapt", digest(identity)) as meter:
            run_steps(spec, questions, arguments, folder, meter, stop)
            outputs = rundir.finish(folder)
            write_manifest(folder / "manifest.json", "adapt", spec.model_dump(mode="json"), [questions_file], outputs)


if __name__ == "__main__":
    run(main)
