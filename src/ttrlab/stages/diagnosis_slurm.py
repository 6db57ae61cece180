"""What a SLURM cluster offers against ``profiles/slurm/cluster.yaml``."""

import re
import shutil
from collections.abc import Callable

from ttrlab.config.cluster import Cluster, Need
from ttrlab.stages.diagnosis import Finding
from ttrlab.stages.slurm import ask

SECONDS = 300
"""Seconds that SLURM must remember an ended job for, so that the driver sees how it ended."""
ATTEMPTS = 3
"""The first and the profile's two retries."""
TABLE = "profiles/slurm/cluster.yaml"


def slurm(cluster: Cluster, needs: set[Need], command: Callable[..., str] = ask) -> list[Finding]:
    """The findings about the cluster that this machine submits to; one note where it submits to none."""
    if shutil.which("sbatch") is None:
        return [
            Finding("note", "SLURM", "no sbatch here", "nothing is missing for runs on this machine; a cluster has it on its login node")
        ]
    try:
        rows = [line.split("|") for line in command("sinfo", "--noheader", "--format=%R|%G|%c|%m|%l|%a|%D").splitlines()]
        settings = command("scontrol", "show", "config")
    except RuntimeError as error:
        return [Finding("wrong", "SLURM", str(error), "slurmctld is down or not configured here: ask the cluster's administrators")]
    return [*partitions(cluster, needs, rows), memory_of_jobs(settings)]


def partitions(cluster: Cluster, needs: set[Need], rows: list[list[str]]) -> list[Finding]:
    """Partitions, GPU model and the size of nodes; ``rows``: partition, gres, processors, megabytes, time limit, availability, nodes."""
    names = sorted({row[0] for row in rows})
    found = [Finding("ok", "SLURM", f"partitions {', '.join(names)}")]
    for need in sorted(needs, key=lambda need: (need.gpus, need.memory_mb)):
        own = [row for row in rows if cluster.partition(need) in ("", row[0])]
        if not own:
            found.append(_wrong(f"no partition {cluster.partition(need)!r}", f"set partitions in {TABLE} to some of {', '.join(names)}"))
        elif not (fitting := [row for row in own if int(row[3].rstrip("+")) >= need.memory_mb and int(row[2].rstrip("+")) >= need.cpus]):
            most = max(int(row[3].rstrip("+")) for row in own)
            what = f"no node with {need.cpus} processors and {need.memory_mb} MB; the largest has {most} MB"
            found.append(_wrong(what, f"lower cpus and memory_mb in {TABLE}"))
        elif all(cluster.limits.minutes_of(need, ATTEMPTS) > _minutes(row[4]) for row in fitting):
            what = f"jobs of {need.minutes} minutes may ask for {cluster.limits.minutes_of(need, ATTEMPTS)} when they are repeated"
            longest = max(_minutes(row[4]) for row in fitting)
            found.append(
                _wrong(f"{what}; the longest limit is {longest:g}", f"set limits.minutes in {TABLE}, or SLURM lets them wait for ever")
            )
        elif need.gpus and not any(_gpus(row[1], cluster.gpu_model) >= min(need.gpus, cluster.gpus_per_node) for row in fitting):
            what = f"no node with {min(need.gpus, cluster.gpus_per_node)} GPUs {cluster.gpu_model or ''}".rstrip()
            found.append(_wrong(what, f"set gpus_per_node, gpu_model and sizes in {TABLE}; sinfo -o %G says what there is"))
    return list(dict.fromkeys(found))


def _wrong(found: str, mend: str) -> Finding:
    return Finding("wrong", "SLURM", found, mend)


def _minutes(limit: str) -> float:
    """Minutes of a time limit as ``sinfo`` prints it: ``1-00:00:00``, ``1:00:00``, ``30:00`` or ``infinite``."""
    if limit in ("infinite", "n/a"):
        return float("inf")
    days, _, clock = limit.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    hours, minutes, seconds = [0] * (3 - len(parts)) + parts
    return int(days or 0) * 1440 + hours * 60 + minutes + seconds / 60


def _gpus(gres: str, model: str | None) -> int:
    """GPUs a node has, of a model where one is named: from ``gpu:h100:8(S:0-1)``, ``gpu:8`` or ``(null)``."""
    found = re.findall(r"gpu(?::([A-Za-z][\w.-]*))?:(\d+)", gres)
    return sum(int(number) for name, number in found if model in (None, name))


def memory_of_jobs(settings: str) -> Finding:
    """How long the cluster remembers an ended job (MinJobAge): shorter, and ``squeue`` cannot tell how it ended."""
    match = re.search(r"^MinJobAge\s*=\s*(\d+)", settings, re.MULTILINE)
    seconds = int(match[1]) if match else 0
    if seconds < SECONDS:
        mend = "in profiles/slurm/config.yaml set slurm-status-command: sacct (then a job that somebody cancels is waited for without end)"
        return Finding("wrong", "SLURM", f"MinJobAge is {seconds} s, squeue as status command needs {SECONDS}", mend)
    return Finding("ok", "SLURM", f"ended jobs are remembered for {seconds} s")
