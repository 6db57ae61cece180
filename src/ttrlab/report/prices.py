"""The price of a study as text and as tables."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ttrlab.evaluate.price import PHASES, Estimate, quantiles, total
from ttrlab.types import FloatArray

HOUR = 3600.0


def unit_of(seconds: FloatArray) -> tuple[str, float]:
    """Name and length of the unit in which a price is read: hours, or minutes where the median is below ten hours."""
    return ("hours", HOUR) if np.median(seconds) >= 10 * HOUR else ("minutes", 60.0)


def spans(seconds: FloatArray, unit: float) -> tuple[str, str, str]:
    """P10, P50, P90 of seconds in a unit, as text of three digits."""
    low, middle, high = (digits(value / unit) for value in quantiles(seconds))
    return low, middle, high


def digits(value: float) -> str:
    """A number with three significant digits, or all of them before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def size(value: float) -> str:
    """Bytes in the largest decimal unit that leaves a number of at least 1."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e3:.3g} kB"


def cell_table(found: Sequence[Estimate]) -> pd.DataFrame:
    """One row a (cell, phase) and one a shared job: P10, P50 and P90 of its device seconds."""
    by_place: dict[tuple[str, ...], list[Estimate]] = {}
    for one in found:
        cell = one.cell
        place = (cell.model, cell.benchmark, cell.method, str(cell.seed)) if cell else (one.model, "", "", "")
        by_place.setdefault((*place, one.part), []).append(one)
    rows = [(*place, *quantiles(total(own))) for place, own in by_place.items()]
    return pd.DataFrame(rows, columns=["model", "benchmark", "method", "seed", "phase", "seconds_p10", "seconds_p50", "seconds_p90"])


def phase_lines(found: Sequence[Estimate], unit: float) -> list[str]:
    """Time by phase and in all, aligned."""
    by_phase = {phase: [one for one in found if one.part == phase] for phase in PHASES}
    rows = [(phase, *spans(total(own), unit)) for phase, own in by_phase.items() if own]
    rows.append(("all", *spans(total(found), unit)))
    return aligned([("", "P10", "P50", "P90"), *rows])


def pair_lines(found: Sequence[Estimate], resolution: Mapping[tuple[str, str], float], unit: float) -> list[str]:
    """A line a (model, benchmark): time over its methods and seeds, and the smallest difference that it could show, in points."""
    by_pair: dict[tuple[str, str], list[Estimate]] = {pair: [] for pair in resolution}
    for one in found:
        if one.cell is not None:
            by_pair[one.cell.model, one.cell.benchmark].append(one)
    rows = [(*pair, *spans(total(own), unit), f"{100 * resolution[pair]:.1f}") for pair, own in by_pair.items()]
    return aligned([("model", "benchmark", "P10", "P50", "P90", "detectable"), *rows], text=2)


def aligned(rows: Sequence[Sequence[str]], text: int = 1) -> list[str]:
    """Rows as lines with equal columns, the first ``text`` of them to the left, numbers to the right."""
    widths = np.max([[len(value) for value in row] for row in rows], axis=0)
    return [
        "  " + "  ".join(v.ljust(w) if i < text else v.rjust(w) for i, (v, w) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]
