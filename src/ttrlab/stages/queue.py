"""What a study asks of a SLURM cluster before it runs there: jobs by rule, GPUs, partitions; and whether it can be submitted from here."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ttrlab.config.cluster import Cluster, Need, Work
from ttrlab.config.study import Cell
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


def cell_jobs(jobs: Jobs, cell: Cell) -> Iterator[tuple[str, Work, str]]:
    """The SLURM jobs of one cell: rule, kind of work, the output that tells whether it is done."""
    folder = jobs.folder(cell)
    for manifest in jobs.adapted(cell):
        yield "adapt_with_gold" if jobs.plan.method(cell).gold else "adapt", "adapt", manifest
    for pool in jobs.pools(cell):
        yield Path(pool).relative_to(folder).parts[0], "evaluate", pool


def planned(jobs: Jobs, cluster: Cluster) -> Counter[tuple[str, Need]]:
    """How many jobs of each rule and need have yet to run: those whose output is not there."""
    found: Counter[tuple[str, Need]] = Counter()
    for model in sorted({cell.model for cell in jobs.cells.values()}):
        found.update(("pretrain", cluster.other) for file in jobs.weight_files(model) if not Path(file).exists())
    for cell in jobs.cells.values():
        for rule, work, output in cell_jobs(jobs, cell):
            if not Path(output).exists():
                found[rule, cluster.need(work, jobs.plan.study.engine, jobs.parameters(cell.model))] += 1
    return found


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
