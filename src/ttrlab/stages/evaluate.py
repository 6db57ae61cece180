"""Sample evaluation roll-outs from the checkpoints of one cell. Reads no gold: grading is the score stage's."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from ttrlab.adapt.decide import form_group
from ttrlab.adapt.record import pool_row
from ttrlab.benchmarks import read_questions
from ttrlab.config.settings import Sampling
from ttrlab.config.specs import LAST, EvaluateSpec
from ttrlab.engines import ENGINES, import_engine, open_sampler
from ttrlab.engines.base import Sampler
from ttrlab.files import digest, is_whole
from ttrlab.grading import use_cache
from ttrlab.meter import Meter, metered
from ttrlab.pools import PoolRow, read_pool, write_pool
from ttrlab.seeds import stream
from ttrlab.stages.command import PROOFS, parse, read_spec, run
from ttrlab.stages.rundir import step_name, step_number
from ttrlab.types import Question

CHUNK = 32
"""Questions in one engine call, and in one saved part of an interrupted evaluation."""


def sample_rows(
    sampler: Sampler, questions: Sequence[Question], spec: EvaluateSpec, step: int, samples: int, sampling: Sampling
) -> Iterator[PoolRow]:
    """Pool rows of ``samples`` roll-outs a question, chunk by chunk. The seeds depend on the question alone, not on the step."""
    for start in range(0, len(questions), CHUNK):
        chunk = questions[start : start + CHUNK]
        seeds = [stream(spec.seed, "evaluate", question.id) for question in chunk]
        sampled = sampler.sample(chunk, samples, sampling, seeds, ENGINES[spec.engine].token_stats)
        for question, rollouts, seed in zip(chunk, sampled, seeds, strict=True):
            yield pool_row(form_group(question, rollouts, spec.kind, (), seed), step)


def checkpoint_folder(adapted: Path | None, model: str, step: int) -> str:
    """Where the weights of ``step`` lie: the model as given for 0, else a whole checkpoint; ValueError names a damaged one."""
    if step == 0:
        return model
    if adapted is None:
        raise ValueError(f"step {step} asked for, but this method has no adaptation")
    folder = adapted / "checkpoints" / step_name(step)
    if not is_whole(folder):
        raise ValueError(f"{folder}: missing or damaged; rerun the adaptation: snakemake -f {adapted / 'manifest.json'}")
    return str(folder)


def known_steps(steps: Sequence[int], adapted: Path | None) -> tuple[int, ...]:
    """The steps with ``LAST`` replaced by that of the last checkpoint; ValueError where there is none."""
    if LAST not in steps:
        return tuple(steps)
    found = [step_number(path) for path in (adapted / "checkpoints").glob("step*")] if adapted else []
    if not found:
        raise ValueError(f"{adapted}: no checkpoint there; rerun the adaptation")
    return tuple(max(found) if step == LAST else step for step in steps)


def counted(rows: Iterable[PoolRow], counts: dict[str, int]) -> Iterator[PoolRow]:
    """The rows as they come; their tokens are added to ``counts``."""
    counts.setdefault("tokens", 0)
    for row in rows:
        counts["tokens"] += sum(row.tokens)
        yield row


def sample_steps(
    spec: EvaluateSpec, questions: Sequence[Question], model: str, adapted: Path | None, parts: Path, meter: Meter
) -> tuple[list[Path], list[Path]]:
    """The files of sampled and of greedy roll-outs below ``parts``, one a step; steps that are whole there are not sampled again."""
    sampled = [parts / f"{step_name(step)}.jsonl.gz" for step in spec.steps]
    greedily = [parts / f"greedy.{step_name(step)}.jsonl.gz" for step in spec.steps]
    greedy = spec.sampling.model_copy(update={"temperature": 0.0, "top_p": 1.0})
    for step, to, greedy_to in zip(spec.steps, sampled, greedily, strict=True):
        if greedy_to.exists():
            continue
        with meter.phase("load", step):
            source = checkpoint_folder(adapted, model, step)
            sampler = open_sampler(spec.engine, source, spec.revision if step == 0 else None, spec.prompt, spec.kind)
        with meter.phase("sample", step) as counts:
            rows = sample_rows(sampler, questions, spec, step, spec.samples, spec.sampling)
            write_pool(to, counted(tqdm(rows, total=len(questions), unit="question", disable=None, desc=step_name(step)), counts))
            greedy_rows = sample_rows(sampler, questions, spec, step, 1, greedy) if spec.greedy else ()
            write_pool(greedy_to, counted(greedy_rows, counts))
    return sampled, greedily


def main() -> None:
    """Write one pool of all ``steps`` to ``--rollouts``, and the greedy roll-outs (none unless asked for) to ``--greedy`` where given.

    Finished steps are kept in ``<rollouts>.parts`` until the end, so an interrupted evaluation goes on at the next checkpoint.
    """
    arguments = parse(__doc__, "questions", "model", "rollouts", optional=("greedy", "adapted"))
    use_cache(PROOFS)
    spec = read_spec(EvaluateSpec, arguments.spec)
    if spec.greedy and not arguments.greedy:
        raise ValueError("the spec asks for greedy roll-outs, and --greedy says no file for them")
    questions = read_questions(Path(arguments.questions))
    adapted = Path(arguments.adapted) if arguments.adapted else None
    spec = spec.model_copy(update={"steps": known_steps(spec.steps, adapted)})
    rollouts = Path(arguments.rollouts)
    parts = Path(f"{rollouts}.parts") / digest(spec.model_dump(mode="json"))[:12]
    with metered(rollouts.parent, rollouts.parent.name, digest(spec.model_dump(mode="json"))) as meter:
        with meter.phase("import"):
            meter.devices(import_engine(spec.engine))
        sampled, greedily = sample_steps(spec, questions, arguments.model, adapted, parts, meter)
        with meter.phase("write"):
            if arguments.greedy:
                write_pool(Path(arguments.greedy), chain.from_iterable(map(read_pool, greedily)))
            write_pool(rollouts, chain.from_iterable(map(read_pool, sampled)))
    shutil.rmtree(parts.parent)


if __name__ == "__main__":
    run(main)
