"""CoRE's summary of its grid, computed the paper's way: means over a family's cells, settings won, and tests over cells.

The paper's unit is the cell (model x benchmark, mean over seeds), so its tests see 14 or 42 numbers. They answer "in how many settings",
not "on how many questions"; the question-level tests are in ``contrasts``.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ttrlab.evaluate import bootstrap, tests
from ttrlab.evaluate.contrasts import Contrast, pooled_contrast
from ttrlab.types import FloatArray

POINTS = 100.0


def family_means(
    contrasts: Sequence[Contrast], families: Mapping[str, str], metric: str, resamples: int = bootstrap.RESAMPLES, seed: int = 0
) -> pd.DataFrame:
    """Mean difference of each family and of all cells in points, each cell counting once, with the interval over questions and seeds.

    ``families``: model -> family; KeyError names a model without one. All contrasts compare the same two methods. Rows are as ``compare``
    wants them; ``n`` counts cells.
    """
    first = _same_arms(contrasts)
    groups = {"all": list(contrasts)}
    for contrast in contrasts:
        if contrast.model not in families:
            raise KeyError(f"model {contrast.model!r} belongs to no family, the families know {sorted(families)}")
        groups.setdefault(families[contrast.model], []).append(contrast)
    rows = []
    for family, cells in groups.items():
        mean = pooled_contrast(cells, resamples, seed=seed)
        value, low, high = (float(POINTS * end[0]) for end in (mean.estimate, mean.low, mean.high))
        rows.append([family, "all", f"{first.method} - {first.baseline}", metric, value, low, high, len(cells), _fewest_seeds(cells)])
    return pd.DataFrame(rows, columns=["model", "benchmark", "method", "metric", "value", "low", "high", "n", "seeds"])


def settings_won(contrasts: Sequence[Contrast]) -> dict[str, float]:
    """Over the given cells: how many, how many the method wins and ties, sign and Wilcoxon tests on the cells' mean differences."""
    _same_arms(contrasts)
    cells: FloatArray = np.array([contrast.differences.mean() for contrast in contrasts])
    sign, ranks = tests.sign_test(cells), tests.wilcoxon_test(cells)
    return {"settings": len(cells), "settings won": sign.wins, "settings tied": sign.zeros, "sign test p": sign.p, "wilcoxon p": ranks.p}


def _same_arms(contrasts: Sequence[Contrast]) -> Contrast:
    arms = sorted({(contrast.method, contrast.baseline) for contrast in contrasts})
    if len(arms) != 1:
        raise ValueError(f"expected contrasts of one pair of methods, got {arms}")
    return contrasts[0]


def _fewest_seeds(cells: Sequence[Contrast]) -> int:
    return min(contrast.differences.shape[0] for contrast in cells)
