"""What a study would cost and could see, before it is run: ``ttrlab plan``, and the workflow's target ``price``."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from ttrlab.config.catalogue import read_yaml
from ttrlab.config.study import Plan, Study
from ttrlab.evaluate.calibration import Calibration, Measurement
from ttrlab.evaluate.cost import Assumptions, CostModel, load_assumptions
from ttrlab.evaluate.disk import kept_bytes, running_bytes
from ttrlab.evaluate.price import Estimate, estimates, makespan, measurements, quantiles, total
from ttrlab.evaluate.resolution import Spread, cell_resolutions, measured_question_sd, pooled_resolution
from ttrlab.evaluate.workload import parameters_of
from ttrlab.files import read_jsonl, write_text
from ttrlab.meter import JOURNAL
from ttrlab.report.prices import HOUR, aligned, cell_table, digits, pair_lines, phase_lines, size, unit_of
from ttrlab.stages.command import price_options, run
from ttrlab.stages.plan import CATALOGUE_KEY, load_frozen, load_plan

CANARY_STEPS = 5
STAGES = ("adapt", "evaluate", "curve", "score", "audit")


def cost_model(plan: Plan, assumptions: Assumptions, hardware: str) -> CostModel:
    """The cost model of a plan on one of the file's devices; ValueError names an unknown one, or a model without parameters."""
    if hardware not in assumptions.hardware:
        raise ValueError(f"hardware: unknown name {hardware!r}; config/cost.yaml has {', '.join(assumptions.hardware)}")
    parameters = {name: parameters_of(name, entry, assumptions.lab_parameters) for name, entry in plan.catalogue.models.items()}
    return CostModel(assumptions, assumptions.hardware[hardware], parameters)


def journals_of(results: Path, plan: Plan) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The journals of a study's jobs by (cell path, stage), and by (model, pretrain)."""
    paths = {(cell.path, stage): results / "cells" / cell.path / stage / JOURNAL for cell in plan.cells for stage in STAGES}
    paths |= {(name, "pretrain"): results / "models" / name / JOURNAL for name in plan.catalogue.models}
    return {name: list(read_jsonl(path)) for name, path in paths.items() if path.is_file()}


def studies_in(folders: Sequence[Path]) -> Iterator[tuple[Path, Plan]]:
    """The studies run in ``folders``, each a study's folder or one above; ValueError for a folder without any."""
    for folder in folders:
        found = sorted(folder.rglob("plan.json"))
        if not found:
            raise ValueError(f"--measured {folder}: no study was run there (no plan.json)")
        yield from ((path.parent, load_frozen(path)) for path in found)


def measured_in(folders: Sequence[Path], assumptions: Assumptions, hardware: str) -> list[Measurement]:
    """What the studies in ``folders`` measured; ValueError when they ran on another kind of device than the one that is priced."""
    found: list[Measurement] = []
    for results, plan in studies_in(folders):
        journals = journals_of(results, plan)
        kinds = {"gpu" if row["devices"] else "cpu" for rows in journals.values() for row in rows if row.get("event") == "devices"}
        if kinds and kinds != {assumptions.hardware[hardware].kind}:
            raise ValueError(f"--measured {results}: ran on {', '.join(sorted(kinds))}, but --hardware {hardware} is priced")
        found += measurements(plan, cost_model(plan, assumptions, hardware), journals)
    return found


def spread_of(model: CostModel, folders: Sequence[Path]) -> Spread:
    """The standard deviations that resolution rests on: assumed, or the questions' from the contrasts that ``folders`` measured."""

    def middle(name: str) -> float:
        return model.assumptions.common[name].range[1]

    tables = [pd.read_csv(path) for folder in folders for path in sorted(folder.rglob("contrasts.csv"))]
    known = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    question = measured_question_sd(known.standard_error.tolist(), known.n.tolist()) if len(known) else middle("question_sd")
    return Spread(question, middle("seed_sd"), middle("benchmark_correlation"))


def jobs_by_rule(config: Path) -> dict[str, int]:
    """Rule -> jobs that a run would start now, by a dry run of the workflow; RuntimeError with its message when that fails."""
    command = [sys.executable, "-m", "snakemake", "-n", "--quiet", "rules", "--cores", "1", "--configfile", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{config}: the workflow's dry run failed:\n{(done.stdout + done.stderr).strip()}")
    counts = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE))
    return {rule: int(number) for rule, number in counts.items() if rule != "total"}


def report(plan: Plan, model: CostModel, hardware: str, found: Sequence[Estimate], devices: int, spread: Spread, measured: int) -> str:
    """The price as text."""
    kind = "CPU" if model.device.kind == "cpu" else "GPU"
    on_device = [one for one in found if kind == "CPU" or not one.on_cpu]
    on_cpu = [one for one in found if one.on_cpu and kind == "GPU"]
    name, unit = unit_of(total(on_device))
    source = f"corrected by {measured} measured phases" if measured else "from assumptions alone (config/cost.yaml)"
    lines = [f"study {plan.study.study}: {len(plan.cells)} cells on {hardware}; {source}", "", f"{kind}-{name} by phase"]
    lines += phase_lines(on_device, unit)
    if on_cpu:
        lines += ["", f"CPU-{name} beside them (scores and audits)", *phase_lines(on_cpu, unit)]
    lines += ["", f"{kind}-{name} by model and benchmark; smallest difference between two methods that would be seen, in points"]
    lines += pair_lines(on_device, cell_resolutions(plan, spread), unit)
    low, middle, high = (digits(seconds / unit) for seconds in makespan(on_device, devices))
    disk = " to ".join(size(value) for value in quantiles(kept_bytes(plan, model))[::2])
    lines += [
        "",
        f"all {len(plan.study.model_benchmarks)} cells together: {100 * pooled_resolution(plan, spread):.1f} points would be seen",
    ]
    lines += [f"{name} on {devices} {hardware}, never waiting: {middle} ({low} to {high})"]
    lines += [f"disk: {disk}, and {size(running_bytes(plan, model))} more for each adaptation while it runs"]
    return "\n".join(lines)


def check_cap(found: Sequence[Estimate], model: CostModel, cap: float | None) -> None:
    """RuntimeError when the P90 of the device hours exceeds ``cap``, with both numbers."""
    if cap is None:
        return
    kind = "CPU" if model.device.kind == "cpu" else "GPU"
    low, middle, high = (seconds / HOUR for seconds in quantiles(total(one for one in found if kind == "CPU" or not one.on_cpu)))
    if high > cap:
        raise RuntimeError(
            f"the price may reach {high:.4g} {kind}-hours (P90; P50 {middle:.4g}, P10 {low:.4g}), above the cap of {cap:g}; "
            f"cut the study, or measure a few cells and give them as --measured to narrow the range"
        )


def priced(plan: Plan, arguments: argparse.Namespace) -> str:
    """The price of a plan as text; the table of cells goes to ``--out``. RuntimeError above the cap."""
    assumptions = load_assumptions(arguments.cost)
    hardware = arguments.hardware or ("cpu" if _lab_only(plan) else "h100")
    model = cost_model(plan, assumptions, hardware)
    measured = measured_in(arguments.measured, assumptions, hardware)
    found = estimates(plan, model, Calibration(measured))
    if arguments.out:
        write_text(arguments.out, cell_table(found).to_csv(index=False))
    check_cap(found, model, arguments.cap_gpu_hours)
    devices = arguments.gpus or max(2, *(one.held for one in found))
    return report(plan, model, hardware, found, devices, spread_of(model, arguments.measured), len(measured))


def _lab_only(plan: Plan) -> bool:
    return all(entry.source == "lab" for entry in plan.catalogue.models.values())


def canary_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The study that measures another at little cost: its first seed alone, ``CANARY_STEPS`` steps of every cell.

    All benchmarks and methods stay: lengths, the share that is trained on, and what equal roll-outs save differ between them.
    """
    study = Study.model_validate({key: value for key, value in raw.items() if key != CATALOGUE_KEY})
    short = {"training": {"updates": CANARY_STEPS, "warmup_steps": 0}}
    kept = {key: value for key, value in raw.items() if key != "evidence"}
    return {
        **kept,
        "study": f"{study.study}-canary",
        "seeds": [study.seeds[0]],
        "settings": [*raw.get("settings", ()), short],
    }


def plan_command(arguments: argparse.Namespace) -> str:
    """``ttrlab plan``: the price of a study's YAML, and the jobs that a run would start; or its canary."""
    raw = read_yaml(arguments.config)
    if arguments.write_canary:
        write_text(arguments.write_canary, yaml.safe_dump(canary_of(raw), sort_keys=False))
        return f"run it:  snakemake --profile profiles/local --configfile {arguments.write_canary}"
    text = priced(load_plan(raw, Path("config")), arguments)
    jobs = [(rule, str(number)) for rule, number in jobs_by_rule(arguments.config).items()]
    return "\n".join([text, "", "jobs that a run would start now", *(aligned(jobs) if jobs else ["  none: all is done"])])


def main() -> None:
    """The workflow's target ``price``: the price of a frozen ``--plan``, as the file ``--text``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--text", type=Path, required=True)
    price_options(parser)
    arguments = parser.parse_args()
    write_text(arguments.text, priced(load_frozen(arguments.plan), arguments) + "\n")


if __name__ == "__main__":
    run(main)
