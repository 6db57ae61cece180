"""A replay from pool to files: survey, decide, and only then join with gold."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ttrlab.benchmarks import Gold, read_gold, read_questions
from ttrlab.files import digest, exclusive, read_jsonl, sha256
from ttrlab.grading import use_cache
from ttrlab.replay.deciding import SELECTIONS, VISITS, Replayer
from ttrlab.replay.groups import batches, pool_needs
from ttrlab.replay.measure import measure
from ttrlab.replay.output import fault_summary, write_faults, write_figures, write_summary, write_tables
from ttrlab.replay.progress import Stream, deciding_code
from ttrlab.replay.run import run
from ttrlab.replay.selection import selection_table
from ttrlab.replay.spec import ReplaySpec
from ttrlab.replay.survey import Pool, Survey, open_pool, survey
from ttrlab.replay.visits import read_visits


@dataclass(frozen=True, slots=True)
class ReplayFiles:
    """Where a replay reads and writes. Gold is opened after the decisions, except where the oracle is among the methods."""

    pool: Path
    out: Path
    gold: Path | None = None
    questions: Path | None = None

    @property
    def proofs(self) -> Path:
        """Where the grader keeps its proofs."""
        return self.out / "proofs"


def replay(spec: ReplaySpec, files: ReplayFiles, jobs: int = 1, format_name: str | None = None) -> dict[str, Any]:
    """Replay a pool and write ``files.out``; the summary. Called again, it goes on where it was stopped.

    ValueError before anything runs when the pool cannot serve a method; RuntimeError when another replay works in the same folder.
    """
    with ExitStack() as held:
        held.enter_context(exclusive(files.out / ".lock"))
        held.callback(use_cache, None)
        use_cache(files.proofs)
        pool = open_pool(files.pool, spec.kind, read_questions(files.questions) if files.questions else (), format_name)
        counted = survey(pool, spec, gold=files.gold is not None)
        write_faults(files.out, counted.faults)
        decided = _decide(spec, files, pool, counted, jobs)
        return _join(spec, files, pool, counted, decided)


def _decide(spec: ReplaySpec, files: ReplayFiles, pool: Pool, counted: Survey, jobs: int) -> int:
    """Every decision, without gold unless the oracle is asked; the number of batches."""
    streams = _streams(spec, files, pool, counted)
    for stream in streams:
        stream.open()
    oracle = any(method.rule.needs_gold for method in spec.methods.values())
    gold = _answers(read_gold(files.gold)) if oracle and files.gold is not None else None
    needs = {need for method in spec.methods.values() for need in pool_needs(method.rule)}
    with tqdm(total=counted.groups, unit="group", disable=None, desc="replay") as bar:
        return run(
            batches(pool.rows(needs), spec.batch, spec.cut), streams, Replayer(spec, pool.prompts, gold, files.proofs), jobs, bar.update
        )


def _streams(spec: ReplaySpec, files: ReplayFiles, pool: Pool, counted: Survey) -> list[Stream]:
    """A stream a method, one for the visits, one for deployment selection where the pool is judged."""
    common = {
        "pool": {path.name: sha256(path) for path in pool.files},
        "left_out": digest([[fault.path.name, fault.line] for fault in counted.faults]),
        "reading": [pool.format, spec.kind, spec.batch, spec.cut],
        "questions": sha256(files.questions) if files.questions else None,
        "code": deciding_code(),
    }
    progress, made = files.out / "progress", []
    for name, method in spec.methods.items():
        gold = sha256(files.gold) if method.rule.needs_gold and files.gold else None
        identity = digest({**common, "rule": method.rule.model_dump(mode="json"), "gold": gold})
        made.append(Stream(name, progress, decisions_file(files.out, name), identity))
    for name in (VISITS, *([SELECTIONS] if counted.fully_judged else [])):
        made.append(Stream(name, progress, beside_file(files.out, name), digest({**common, "stream": name})))
    return made


def decisions_file(out: Path, method: str) -> Path:
    """The decisions of a method."""
    return out / "decisions" / f"{method}.jsonl"


def beside_file(out: Path, stream: str) -> Path:
    """The file of a stream that is no method's."""
    return out / f"{stream.removeprefix('_')}.jsonl"


def _join(spec: ReplaySpec, files: ReplayFiles, pool: Pool, counted: Survey, batches_decided: int) -> dict[str, Any]:
    """Tables, figures and summary of the finished decisions."""
    gold: Mapping[str, Gold] | None = read_gold(files.gold) if files.gold else None
    visits, has_gold = beside_file(files.out, VISITS), gold is not None
    decisions = {name: decisions_file(files.out, name) for name in spec.methods}
    audit, agreement = measure(
        read_visits(visits, gold), decisions, {name: method.train for name, method in spec.methods.items()}, has_gold
    )
    tables = {"audit": audit, "agreement": agreement}
    if counted.fully_judged:
        selections = read_jsonl(beside_file(files.out, SELECTIONS))
        tables["selection"] = selection_table(read_visits(visits, gold), selections, has_gold)
    summary = _summary(spec, files, pool, counted, batches_decided)
    write_tables(files.out, tables, _caption(summary))
    write_figures(files.out, tables, has_gold)
    write_summary(files.out, summary, audit)
    return summary


def _summary(spec: ReplaySpec, files: ReplayFiles, pool: Pool, counted: Survey, batches_decided: int) -> dict[str, Any]:
    return {
        "study": spec.study,
        "pool": {
            "format": pool.format,
            "files": len(pool.files),
            "groups": counted.groups,
            "rollouts": counted.rollouts,
            "group_sizes": {str(size): count for size, count in sorted(counted.sizes.items())},
            "steps": counted.steps,
            "batches": batches_decided,
            "unparsed": counted.unparsed,
            "truncated": counted.truncated,
        },
        "malformed": fault_summary(counted.faults),
        "methods": {name: method.model_dump(mode="json") for name, method in spec.methods.items()},
        "gold": files.gold is not None,
        "selection": "made" if counted.fully_judged else f"not made: {counted.unjudged}",
    }


def _caption(summary: Mapping[str, Any]) -> str:
    pool = summary["pool"]
    return (
        f"Replay of {pool['groups']} groups ({pool['rollouts']} roll-outs, steps {pool['steps'][0]} to {pool['steps'][1]}, the whole pool) "
        f"through study {summary['study']}; {summary['malformed']['count']} malformed parts left out (malformed.jsonl). Rates in %; "
        f"{'joined with gold after the decisions' if summary['gold'] else 'no gold given'}."
    )


def _answers(gold: Mapping[str, Gold]) -> dict[str, str]:
    return {question_id: entry.answer for question_id, entry in gold.items()}
