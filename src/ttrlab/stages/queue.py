"""What a study asks of a SLURM cluster before it runs there: jobs by rule, GPUs, partitions; and whether it can be submitted from here."""

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ttrlab.config.cluster import Cluster, Need, Work
from ttrlab.config.study import Cell
from ttrlab.stages.judges import PARTS, JudgeJobs
from ttrlab.stages.plan import Jobs

HEADER = ("rule", "jobs", "GPUs", "nodes", "partition", "hours", "GPU-hours at most")


def check_submission() -> str | None:
    """Why nothing can be submitted from this machine; None when it can."""
    if shutil.which("sbatch") is not None:
        return None
    return (
        "--profile slurm: this machine has no sbatch, so nothing was started. Run on a login node of the cluster,"
        " look at the plan with -n, or run here with --profile profiles/local"
    )


@dataclass(frozen=True, slots=True)
class Queued:
    """A job for the cluster. ``model``: what it loads; None where its need does not depend on that. ``output``: there when it is done."""

    rule: str
    work: Work
    model: str | None
    output: str


def cell_jobs(jobs: Jobs, judges: JudgeJobs, cell: Cell) -> Iterator[Queued]:
    """The jobs of one cell."""
    folder = jobs.folder(cell)
    for manifest in jobs.adapted(cell):
        yield Queued("adapt_with_gold" if jobs.plan.method(cell).gold else "adapt", "adapt", cell.model, manifest)
    for pool in jobs.pools(cell):
        yield Queued(Path(pool).relative_to(folder).parts[0], "evaluate", cell.model, pool)
    for judge in jobs.plan.deployed(cell):
        yield Queued("deploy", "evaluate", judges.deployed_name(cell, judge), f"{folder}/deploy/{judge}/judged.jsonl.gz")


def judge_jobs(judges: JudgeJobs) -> Iterator[Queued]:
    """The jobs that make the trained judges of a study."""
    for name, source in judges.sources.items():
        for manifest in judges.warmed_up(name):
            yield Queued("warm_up", "adapt", source.policy, manifest)
        for part in PARTS:
            yield Queued("source", "evaluate", source.policy, f"{judges.results}/sources/{name}/{part}/rollouts.jsonl.gz")
    for name, rectifier in judges.rectifiers.items():
        yield Queued("rectify", "adapt", rectifier.model, f"{judges.results}/rectifiers/{name}/train/manifest.json")
    for name, selection in judges.freezes:
        record = f"{judges.results}/rectifiers/{name}/frozen/{selection}.json"
        yield Queued("freeze", "evaluate", judges.rectifiers[name].model, record)


def lab_jobs(jobs: Jobs, judges: JudgeJobs) -> Iterator[Queued]:
    """The pre-trainings of the lab's models that cells and judges load."""
    models = {cell.model for cell in jobs.cells.values()}
    models |= {judge.model for cell in jobs.cells.values() for judge in jobs.plan.judges(cell)}
    models |= {source.policy for source in judges.sources.values()} | {rectifier.model for rectifier in judges.rectifiers.values()}
    for model in sorted(models):
        for manifest in jobs.weight_files(model):
            yield Queued("pretrain", "other", None, manifest)


def planned(jobs: Jobs, cluster: Cluster) -> Counter[tuple[str, Need]]:
    """How many jobs of each rule and need have yet to run: those whose output is not there."""
    judges = JudgeJobs(jobs)
    cells = (job for cell in jobs.cells.values() for job in cell_jobs(jobs, judges, cell))
    left = (job for job in chain(lab_jobs(jobs, judges), judge_jobs(judges), cells) if not Path(job.output).exists())
    engine = jobs.plan.study.engine
    return Counter((job.rule, cluster.need(job.work, engine, jobs.parameters(job.model) if job.model else None)) for job in left)


def queue_table(jobs: Jobs, cluster: Cluster) -> str:
    """The jobs that a study has yet to run on the cluster, at their first attempt; hours are limits, not estimates."""
    rows = [HEADER]
    total = 0.0
    for (rule, need), count in sorted(planned(jobs, cluster).items(), key=lambda row: (row[0][0], row[0][1].gpus)):
        hours = count * need.gpus * need.minutes / 60
        total += hours
        nodes = max(1, need.gpus // cluster.gpus_per_node)
        where = cluster.partition(need) or "(default)"
        rows.append((rule, str(count), str(need.gpus), str(nodes), where, f"{need.minutes / 60:g}", f"{hours:g}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(["On the cluster (not started yet; limits, not estimates):", *lines, f"at most {total:g} GPU-hours", ""])
