"""CoRE's summary of its grid, computed the paper's way: means over a family's cells, settings won, and tests over cells.

The paper's unit is the cell (model x benchmark, mean over seeds), so its tests see 14 or 42 numbers. They answer "in how many settings",
not "on how many questions"; the question-level tests are in ``contrasts``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from ttrlab.evaluate import bootstrap, power, tests
from ttrlab.evaluate.contrasts import Contrast, pooled_contrast
from ttrlab.types import FloatArray

EVERY = "every cell"
"""Name of the group of all cells that a study has of a contrast."""

Groups = Mapping[str, Sequence[str]]
"""Name of a group -> the models, or the benchmarks, in it."""


@dataclass(frozen=True, slots=True)
class Won:
    """Over cells: how many the method wins and ties, and two-sided tests on the cells' mean differences."""

    cells: int
    won: int
    tied: int
    sign_p: float
    wilcoxon_p: float


def settings_won(contrasts: Sequence[Contrast]) -> Won:
    """Over the given cells, all of one pair of methods."""
    _same_arms(contrasts)
    cells: FloatArray = np.array([contrast.differences.mean() for contrast in contrasts])
    sign, ranks = tests.sign_test(cells), tests.wilcoxon_test(cells)
    return Won(len(cells), sign.wins, sign.zeros, sign.p, ranks.p)


def family_table(
    contrasts: Sequence[Contrast], models: Groups, benchmarks: Groups, resamples: int = bootstrap.RESAMPLES, seed: int = 0
) -> pd.DataFrame:
    """One row a group of cells: the mean difference, each cell counting once, its "questions like these" interval, the smallest
    difference that the group would show with 80 % power, settings won, tests.

    Rows: every cell, then each group of models on all benchmarks, all models on each group of benchmarks. A group of which a cell is
    missing is left out: its mean would be another claim.
    """
    first = _same_arms(contrasts)
    rows = []
    for on_models, on_benchmarks, cells in _groups(contrasts, models, benchmarks):
        mean = pooled_contrast(cells, resamples, seed=seed)
        error = (mean.high[0] - mean.low[0]) / 2 / norm.ppf((1 + bootstrap.LEVEL) / 2)
        ends = {"difference": mean.estimate[0], "low": mean.low[0], "high": mean.high[0], "detectable": power.detectable(error)}
        seeds = min(contrast.differences.shape[0] for contrast in cells)
        names = {"models": on_models, "benchmarks": on_benchmarks, "method": first.method, "baseline": first.baseline}
        rows.append({**names, **ends, "seeds": seeds, **asdict(settings_won(cells))})
    return pd.DataFrame(rows)


def _groups(contrasts: Sequence[Contrast], models: Groups, benchmarks: Groups) -> Iterator[tuple[str, str, list[Contrast]]]:
    yield EVERY, EVERY, list(contrasts)
    found = {(contrast.model, contrast.benchmark): contrast for contrast in contrasts}
    all_models, all_benchmarks = (list(dict.fromkeys(names)) for names in zip(*found, strict=True))
    wanted = [(name, EVERY, list(members), all_benchmarks) for name, members in models.items()]
    wanted += [(EVERY, name, all_models, list(members)) for name, members in benchmarks.items()]
    for on_models, on_benchmarks, some_models, some_benchmarks in wanted:
        cells = [found.get((model, benchmark)) for model in some_models for benchmark in some_benchmarks]
        if all(cell is not None for cell in cells):
            yield on_models, on_benchmarks, [cell for cell in cells if cell is not None]


def _same_arms(contrasts: Sequence[Contrast]) -> Contrast:
    arms = sorted({(contrast.method, contrast.baseline) for contrast in contrasts})
    if len(arms) != 1:
        raise ValueError(f"expected contrasts of one pair of methods, got {arms}")
    return contrasts[0]
