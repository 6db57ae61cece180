"""Join the stored training roll-outs and decisions of one cell with gold: what the rewards were worth."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from ttrlab.benchmarks import read_gold
from ttrlab.config.specs import AuditSpec
from ttrlab.evaluate.audit import StoredDecision, audit, by_windows, decision_from_json, last_updates, per_step, whole_run
from ttrlab.files import digest, read_jsonl, write_text
from ttrlab.grading import use_cache
from ttrlab.meter import metered
from ttrlab.pools import PoolRow, read_pool
from ttrlab.stages.command import PROOFS, parse, read_spec, run
from ttrlab.stages.rundir import step_number


def stored_rollouts(adapted: Path) -> Iterator[PoolRow]:
    """All stored roll-outs of an adaptation, in step order."""
    for path in sorted((adapted / "rollouts").glob("step*"), key=step_number):
        yield from read_pool(path)


def stored_decisions(adapted: Path) -> Iterator[StoredDecision]:
    """All stored decisions of an adaptation, in step order."""
    for path in sorted((adapted / "decisions").glob("step*"), key=step_number):
        yield from map(decision_from_json, read_jsonl(path))


def main() -> None:
    """Write ``--audit``: one row a window, of each step, of 15 updates, of the last 4, and of the whole run."""
    arguments = parse(__doc__, "gold", "adapted", "audit")
    use_cache(PROOFS)
    spec = read_spec(AuditSpec, arguments.spec)
    adapted = Path(arguments.adapted)
    gold = {question_id: entry.answer for question_id, entry in read_gold(Path(arguments.gold)).items()}
    with metered(adapted.parent / "audit", "audit", digest(spec.model_dump(mode="json"))) as meter, meter.phase("audit"):
        visits = audit(stored_rollouts(adapted), stored_decisions(adapted), gold, spec.train)
        windows = {"step": per_step, "15 updates": by_windows, "last 4": last_updates, "whole run": whole_run}
        table = pd.concat([summed(visits).assign(window=name) for name, summed in windows.items()], ignore_index=True)
        write_text(Path(arguments.audit), table.assign(**spec.cell.model_dump()).to_csv(index=False))


if __name__ == "__main__":
    run(main)
