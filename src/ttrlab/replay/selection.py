"""Deployment selection (TRUER, equation 7 and its historical selectors) on replayed groups, joined with gold."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ttrlab.evaluate.metrics import CORRECT, UNDECIDED, WRONG
from ttrlab.replay.visits import Visit


def selection_table(visits: Iterable[Visit], selections: Iterable[Mapping[str, Any]], gold: bool) -> pd.DataFrame:
    """Deployment selection: a row a selector and group of questions. ``accuracy``: right / (right + wrong + undecided), a lower bound.

    ``changed``: the choice is not the vote's; ``recovered``, ``lost``: among those, a wrong vote made right and a right one made wrong.
    ``output_tokens`` NaN where the pool does not hold them.
    """
    sums: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for visit, row in zip(visits, selections, strict=True):
        for selector, choice in row["selected"].items():
            for name, value in _chosen(visit, choice).items():
                for stratum in visit.strata:
                    sums[selector, stratum][name] += value
    order = sorted(sums, key=lambda key: (key[1] != "all", key[1]))
    table = pd.DataFrame([{"selector": key[0], "group": key[1], **sums[key]} for key in order])
    if gold:
        return table.assign(accuracy=table.right / table.groups, accuracy_high=(table.right + table.undecided) / table.groups)
    return table.drop(columns=["right", "wrong", "undecided", "recovered", "lost"])


def _chosen(visit: Visit, choice: Mapping[str, Any]) -> dict[str, float]:
    verdict, before = visit.verdict(choice["label"]), visit.verdict(visit.vote)
    return {
        "groups": 1,
        "right": verdict == CORRECT,
        "wrong": verdict == WRONG,
        "undecided": verdict == UNDECIDED,
        "changed": choice["label"] != visit.vote,
        "recovered": verdict == CORRECT and before == WRONG,
        "lost": verdict == WRONG and before == CORRECT,
        "judgements": choice["judgements"],
        "output_tokens": np.nan if choice["output_tokens"] is None else choice["output_tokens"],
    }
