"""How far a price that five steps corrected is from what cells then took, in CPU seconds, on cells that the correction did not see.

    python bench/bench_plan.py                                        runs a canary and cells of the demo first: a quarter of an hour
    python bench/bench_plan.py results/demo-canary results/demo       takes what was run

Cells of the canary's seed are left out, and so is pre-training, which the canary does as a whole.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import yaml

from ttrlab.config.catalogue import read_yaml
from ttrlab.evaluate.calibration import Calibration, finished, spent_by_phase
from ttrlab.evaluate.cost import load_assumptions
from ttrlab.evaluate.price import estimates, quantiles, total
from ttrlab.report.prices import aligned
from ttrlab.stages.plan import load_frozen
from ttrlab.stages.price import canary_of, cost_model, journals_of, measured_in

ROOT = Path(__file__).resolve().parents[1]
MEDIAN, P90 = 0.15, 0.30
"""What the errors may be."""


def run_studies(folder: Path) -> tuple[Path, Path]:
    """Run the demo's canary, and the demo with another seed, in ``folder``; their results."""
    demo = {**read_yaml(ROOT / "config" / "demo.yaml"), "catalogue": str(ROOT / "config")}
    studies = {"demo-canary": canary_of(demo), "demo": {**demo, "seeds": [1]}}
    for name, study in studies.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(study))
        command = ["snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder, "--configfile", folder / f"{name}.yaml"]
        subprocess.run([*command, "--cores", "2", "--quiet", "rules", "progress"], check=True)
    return folder / "results" / "demo-canary", folder / "results" / "demo"


def compare(canary: Path, results: Path) -> tuple[list[tuple[str, float, float, float]], float]:
    """(cell, predicted P50, measured, relative error) of every unseen cell that is finished, and how often its P10 to P90 holds."""
    assumptions = load_assumptions(ROOT / "config" / "cost.yaml")
    plan, seen = load_frozen(results / "plan.json"), {(cell.benchmark, cell.seed) for cell in load_frozen(canary / "plan.json").cells}
    calibration = Calibration(measured_in([canary], assumptions, "cpu"))
    priced = estimates(plan, cost_model(plan, assumptions, "cpu"), calibration)
    journals = journals_of(results, plan)
    rows, inside = [], 0
    for cell in plan.cells:
        own = {stage: rows for (place, stage), rows in journals.items() if place == cell.path}
        if (cell.benchmark, cell.seed) in seen or not all(finished(rows) for rows in own.values()) or "score" not in own:
            continue
        measured = sum(sum(spent_by_phase(rows).values()) for rows in own.values())
        low, middle, high = quantiles(total(one for one in priced if one.cell == cell))
        inside += low <= measured <= high
        rows.append((cell.path, middle, measured, middle / measured - 1))
    return rows, inside / len(rows)


def main() -> None:
    """Print every cell, then the median and the P90 of the absolute errors; exit code 1 where they are larger than they may be."""
    with tempfile.TemporaryDirectory() as folder:
        canary, results = map(Path, sys.argv[1:3]) if len(sys.argv) == 3 else run_studies(Path(folder))
        rows, inside = compare(canary, results)
    shown = [(cell, f"{priced:.1f}", f"{measured:.1f}", f"{100 * error:+.0f} %") for cell, priced, measured, error in rows]
    print("\n".join(aligned([("cell", "predicted", "measured", "error"), *shown])))
    errors = np.abs([error for *_, error in rows])
    median, p90 = np.median(errors), np.quantile(errors, 0.9)
    print(f"{len(rows)} cells: median error {100 * median:.0f} %, P90 {100 * p90:.0f} %; inside P10 to P90: {100 * inside:.0f} %")
    if median > MEDIAN or p90 > P90:
        sys.exit(f"expected a median of at most {100 * MEDIAN:.0f} % and a P90 of at most {100 * P90:.0f} %")


if __name__ == "__main__":
    main()
