"""What the runs took, from the jobs' own clocks: hours, tokens a CPU second, the largest process by stage and phase."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ttrlab.report.tables import markdown

Job = Mapping[str, Any]
"""A ``cost.json`` with the columns of its cell and ``study``."""

UPDATE, SAMPLE = "update", "sample"


def cost_table(jobs: Sequence[Job]) -> str:
    """Wall-clock and CPU minutes of every study, benchmark and stage, sums over methods and seeds; the largest process of any of them."""
    rows = [
        {
            "study": job["study"],
            "benchmark": job["benchmark"],
            "stage": job["stage"],
            "wall": sum(phase["wall"] + phase["discarded_wall"] for phase in job["phases"].values()) / 60,
            "cpu": sum(phase["cpu"] + phase["discarded_cpu"] for phase in job["phases"].values()) / 60,
            "peak": job["peak_rss_mb"],
        }
        for job in jobs
    ]
    if not rows:
        return "No job has recorded its cost.\n"
    summed = pd.DataFrame(rows).groupby(["study", "benchmark", "stage"], sort=False)
    found = summed.agg(jobs=("wall", "size"), wall=("wall", "sum"), cpu=("cpu", "sum"), peak=("peak", "max")).reset_index()
    total = {
        "study": "all",
        "benchmark": "",
        "stage": "",
        "jobs": found["jobs"].sum(),
        "wall": found["wall"].sum(),
        "cpu": found["cpu"].sum(),
    }
    found = pd.concat([found, pd.DataFrame([{**total, "peak": found["peak"].max()}])], ignore_index=True)
    shown = found.assign(
        **{"wall min": found["wall"].map("{:.1f}".format), "CPU min": found["cpu"].map("{:.1f}".format)},
        **{"largest process, MB": found["peak"].map("{:.0f}".format)},
    ).drop(columns=["wall", "cpu", "peak"])
    machine = sorted({f"{job['cores']} cores ({job['processor']})" for job in jobs})
    return markdown(shown, f"What it took, on {', '.join(machine)}, one thread a job, work that was done again included.")


def throughput(jobs: Iterable[Job]) -> str:
    """Tokens a CPU second in the whole study: sampled ones by sampling, sampled ones by a step's update."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for job in jobs:
        sampled = job["phases"].get(SAMPLE)
        if sampled is None or not sampled["cpu"]:
            continue
        kept = rows.setdefault((job["study"], job["stage"]), {"tokens": 0, "sample": 0, "update": 0})
        kept["tokens"] += sampled["tokens"]
        kept["sample"] += sampled["cpu"]
        kept["update"] += job["phases"][UPDATE]["cpu"] if UPDATE in job["phases"] else 0
    table = [
        {
            "study": study,
            "stage": stage,
            "tokens sampled": int(spent["tokens"]),
            "a CPU second of sampling": f"{spent['tokens'] / spent['sample']:.0f}",
            "with updating": f"{spent['tokens'] / (spent['sample'] + spent['update']):.0f}" if spent["update"] else "",
        }
        for (study, stage), spent in rows.items()
    ]
    if not table:
        return ""
    return markdown(pd.DataFrame(table), "Tokens by CPU second, over all jobs; roll-outs with one text are sampled once and count each.")


def bench_table(bench: Mapping[str, Any]) -> str:
    """The comparison with other tools on the same model and groups (``bench/bench_smollm2.py``)."""
    rows = [
        {
            "what": row["what"],
            "by": row["by"],
            "tokens": row["tokens"] or "",
            "CPU s": f"{row['cpu']:.1f}",
            "tokens a CPU s": f"{row['tokens'] / row['cpu']:.0f}" if row["tokens"] else "",
            "CPU a token, this engine = 1": f"{_a_token(row['cpu'], row['tokens']) / _a_token(row['own_cpu'], row['own_tokens']):.2f}"
            if row["tokens"]
            else "",
            "peak, MB": f"{row['peak_mb']:.0f}",
        }
        for row in bench["rows"]
    ]
    return markdown(pd.DataFrame(rows), bench["caption"])


def _a_token(cpu: float, tokens: int) -> float:
    return cpu / tokens
