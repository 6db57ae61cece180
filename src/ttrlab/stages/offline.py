"""What the base model's evaluation roll-outs say before any training: regimes, recovery region, labels against votes."""

from pathlib import Path

import pandas as pd

from ttrlab.benchmarks import read_gold
from ttrlab.config.specs import OfflineSpec
from ttrlab.files import write_text
from ttrlab.grading import use_cache
from ttrlab.pools import read_pool
from ttrlab.replay.offline import question_rows, vote_rows
from ttrlab.rewards.core import Core
from ttrlab.stages.command import PROOFS, parse, read_spec, run


def main() -> None:
    """Write ``--questions`` and ``--votes`` from the endpoint ``--rollouts`` of a base cell and ``--gold``."""
    arguments = parse(__doc__, "rollouts", "gold", "questions", "votes")
    use_cache(PROOFS)
    spec = read_spec(OfflineSpec, arguments.spec)
    if not isinstance(spec.core, Core):
        raise ValueError(f"--spec: core: rule {spec.core.rule!r} is not CoRE's")
    rows = list(read_pool(Path(arguments.rollouts)))
    gold = {question_id: entry.answer for question_id, entry in read_gold(Path(arguments.gold)).items()}
    tables: dict[str, pd.DataFrame] = {
        arguments.questions: question_rows(rows, gold, spec.core, spec.regimes),
        arguments.votes: vote_rows(rows, gold, spec.rules, spec.batch),
    }
    for path, table in tables.items():
        write_text(Path(path), table.assign(model=spec.model, benchmark=spec.benchmark).to_csv(index=False))


if __name__ == "__main__":
    run(main)
