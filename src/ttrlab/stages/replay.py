"""Put stored roll-outs through a study's reward rules: what each would have rewarded, and, with gold, what that is worth."""

import argparse
import os
from pathlib import Path

from ttrlab.config.catalogue import AnswerKind, load_catalogue, read_yaml
from ttrlab.provenance import write_manifest
from ttrlab.replay.spec import ReplaySpec, replay_spec, study_rules
from ttrlab.replay.survey import pool_files
from ttrlab.replay.whole import ReplayFiles, replay
from ttrlab.stages.command import positive, read_spec, run, stage_parser
from ttrlab.stages.plan import load_study


def replay_command(arguments: argparse.Namespace) -> str:
    """``ttrlab replay``: the audit as printed text."""
    plan, folder = load_study(read_yaml(arguments.study), arguments.catalogue)
    names = arguments.methods.split(",") if arguments.methods else ()
    rules = study_rules(plan, names, load_catalogue(folder))
    kind: AnswerKind | None = arguments.kind
    spec = replay_spec(plan, rules, kind, arguments.train, arguments.batch, arguments.benchmark)
    files = ReplayFiles(arguments.pool, arguments.out, arguments.gold, arguments.questions)
    return _replayed(spec, files, arguments.jobs, arguments.format)


def _replayed(spec: ReplaySpec, files: ReplayFiles, jobs: int, format_name: str | None = None) -> str:
    replay(spec, files, jobs, format_name)
    inputs = [*pool_files(files.pool), *(path for path in (files.gold, files.questions) if path)]
    made = sorted(path for path in files.out.rglob("*") if path.is_file() and path.name not in (".lock", "manifest.json"))
    outputs = [path for path in made if path.parent.name not in ("progress", "proofs")]
    write_manifest(files.out / "manifest.json", "replay", spec.model_dump(mode="json"), inputs, outputs)
    return (files.out / "audit.md").read_text(encoding="utf-8")


def main() -> None:
    """Replay ``--pool`` into ``--out``."""
    parser = stage_parser(__doc__, "pool", "out", optional=("gold", "questions"))
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    given = {name: Path(path) for name in ("gold", "questions") if (path := vars(arguments)[name])}
    files = ReplayFiles(Path(arguments.pool), Path(arguments.out), **given)
    _replayed(read_spec(ReplaySpec, arguments.spec), files, arguments.jobs)


if __name__ == "__main__":
    run(main)
