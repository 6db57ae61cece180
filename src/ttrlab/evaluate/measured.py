"""What a study measured of the numbers that a paper prints: one estimate, with interval, n and seeds, a printed quantity.

Asked by the paper's names: groups of models and benchmarks (a family, "all", "average") are means over cells, each counting once, and are
measured only where the study has all their cells. Numbers come in the paper's units: per cent and points for shares.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from ttrlab.config.evidence import Evidence
from ttrlab.consensus.theory import confidence_factor
from ttrlab.evaluate import bootstrap, families
from ttrlab.evaluate.compare import FEWER_STEPS, LOWER_BOUND, MEASURED, POINTS, SETTINGS_WON, SIGN_P, WILCOXON_P
from ttrlab.evaluate.contrasts import Contrast, cell_resamples, contrast_table, pooled_contrast
from ttrlab.evaluate.measurements import NAN, Estimate, Measurements, Wanted
from ttrlab.evaluate.paper import DIFFERENCE, RELATIVE
from ttrlab.types import FloatArray

LARGEST, GAP_CLOSED, SPREAD = " largest cell", "gap closed, ", " sd over seeds, "
GAP, FACTOR = "confidence gap", "threshold factor at the measured gap"
TAU = 0.25
"""Of CoRE's confidence weights."""
VOTE, ORACLE = "majority", "oracle"
ENDS = {"least": min, "most": max}
AUDITED = {"reward accuracy": "reward_accuracy", "label accuracy": "label_accuracy", "precision": "precision", "recall": "recall",
           "fpr": "fpr", "coverage": "coverage", "fp share of errors": "fp_share_of_errors", "tp": "tp", "fp": "fp", "tn": "tn",
           "fn": "fn", "active groups": "active"}  # fmt: skip
"""A paper's word for a number of the reward audit -> its column in audit.csv."""


def measured(wanted: pd.DataFrame, found: Measurements) -> pd.DataFrame:
    """The rows of ``compare.MEASURED`` for those printed quantities (columns of ``Wanted``) that the study measured."""
    rows = []
    for one in map(Wanted._make, wanted[list(Wanted._fields)].drop_duplicates().itertuples(index=False, name=None)):
        estimate = measure(one, found)
        if estimate is not None:
            rows.append([*one[:5], *estimate])
    columns = [*Wanted._fields[:5], *Estimate._fields]
    return pd.DataFrame(rows, columns=columns)[list(MEASURED)]


def measure(wanted: Wanted, found: Measurements) -> Estimate | None:
    """One printed quantity; None where the study has no measurement of it."""
    if wanted.metric in AUDITED and wanted.window:
        return _audited(wanted, found)
    if not _at_endpoint(wanted, found):
        return None
    for matches, how in _WAYS:
        if matches(wanted.metric):
            return how(wanted, found)
    return _score(wanted, wanted.metric, found)


def _at_endpoint(wanted: Wanted, found: Measurements) -> bool:
    """True where the number was taken where ours is: at the endpoint, named as such or by its step."""
    ends = {found.last_steps.get(pair) for pair in found.pairs(wanted)}
    return wanted.window == "" or ends == {_step(wanted.window)}


def _step(window: str) -> int | None:
    kind, _, step = window.partition(" ")
    return int(step) if kind == "step" else None


def _scale(wanted: Wanted) -> float:
    return 100.0 if wanted.unit in POINTS else 1.0


def _of_cells(cells: list[Contrast], value: float, low: float, high: float) -> Estimate:
    sizes = {(cell.model, cell.benchmark): cell.differences.shape for cell in cells}.values()
    return Estimate(value, low, high, sum(questions for _, questions in sizes), min(seeds for seeds, _ in sizes), len(sizes))


def _score(wanted: Wanted, metric: str, found: Measurements) -> Estimate | None:
    """A score or a difference of two: one cell with the interval that contrasts.csv gives it, several as their mean."""
    cells = found.cells(wanted, metric, *found.arms(wanted))
    if not cells:
        return None
    if len(cells) == 1:
        row = contrast_table(cells, found.resamples).iloc[0]
        ends = (row["difference"], row["population_low"], row["population_high"])
    else:
        mean = pooled_contrast(cells, found.resamples)
        ends = (mean.estimate[0], mean.low[0], mean.high[0])
    value, low, high = (_scale(wanted) * float(end) for end in ends)
    return _of_cells(cells, value, low, high)


def _ratio(wanted: Wanted, above: list[Contrast], below: list[Contrast], found: Measurements) -> Estimate | None:
    """Mean over cells of ``above`` divided by that of ``below``, both resampled by the same draws."""
    if not above or not below:
        return None
    top, bottom = (np.mean([cell.differences.mean() for cell in cells]) for cells in (above, below))
    tops, bottoms = (np.mean(cell_resamples(cells, found.resamples), axis=0) for cells in (above, below))
    if bottom == 0 or (bottoms == 0).any():
        return None
    ends = bootstrap.percentile(np.array([top / bottom]), (tops / bottoms)[:, None])
    value, low, high = (_scale(wanted) * float(end[0]) for end in (ends.estimate, ends.low, ends.high))
    return _of_cells(above, value, low, high)


def _relative(wanted: Wanted, found: Measurements) -> Estimate | None:
    """A difference in per cent of the baseline."""
    metric, (method, baseline) = wanted.metric.removesuffix(RELATIVE), found.arms(wanted)
    return _ratio(wanted, found.cells(wanted, metric, method, baseline), found.cells(wanted, metric, baseline), found)


def _gap_closed(wanted: Wanted, found: Measurements) -> Estimate | None:
    """The method's gain over the vote in per cent of the oracle's."""
    metric = wanted.metric.removeprefix(GAP_CLOSED)
    ours, best = (found.cells(wanted, metric, arm, VOTE) for arm in (found.arms(wanted)[0], ORACLE))
    return _ratio(wanted, ours, best, found)


def _largest(wanted: Wanted, found: Measurements) -> Estimate | None:
    """The largest cell with its own interval, which does not know that it was chosen for being the largest."""
    cells = found.cells(wanted, wanted.metric.removesuffix(LARGEST), *found.arms(wanted))
    if not cells:
        return None
    best = max(cells, key=lambda cell: float(cell.differences.mean()))
    method = DIFFERENCE.join(filter(None, found.arms(wanted)))
    alone = wanted._replace(model=best.model, benchmark=best.benchmark, method=method)
    return _score(alone, wanted.metric.removesuffix(LARGEST), replace(found, evidence=Evidence()))


def _spread(wanted: Wanted, found: Measurements) -> Estimate | None:
    """Least or greatest standard deviation over seeds of a cell; no interval."""
    metric, _, end = wanted.metric.partition(SPREAD)
    cells = found.cells(wanted, metric, *found.arms(wanted))
    if not cells or any(cell.differences.shape[0] < 2 for cell in cells):
        return None
    spreads = [float(cell.differences.mean(axis=1).std(ddof=1)) for cell in cells]
    return _of_cells(cells, _scale(wanted) * ENDS[end](spreads), NAN, NAN)


def _settings(wanted: Wanted, found: Measurements) -> Estimate | None:
    """Settings won, their number, and the tests over them, of the study's main metric; the interval of wins is Clopper and Pearson's."""
    cells = found.cells(wanted, found.metric, *found.arms(wanted))
    if not cells:
        return None
    won = families.settings_won(cells)
    decided, seeds = won.cells - won.tied, min(cell.differences.shape[0] for cell in cells)
    share = stats.binomtest(won.won, decided).proportion_ci() if decided else None
    low, high = (NAN, NAN) if share is None else (decided * float(share.low), decided * float(share.high))
    values = {SETTINGS_WON: (float(won.won), low, high), "settings": (float(won.cells), won.cells, won.cells),
              SIGN_P: (won.sign_p, NAN, NAN), WILCOXON_P: (won.wilcoxon_p, NAN, NAN)}  # fmt: skip
    return Estimate(*values[wanted.metric], n=decided, seeds=seeds, cells=won.cells, wins=float(won.won))


def _fewer_steps(wanted: Wanted, found: Measurements) -> Estimate | None:
    """Steps saved to the baseline's plateau: of one cell, or the least and the most over cells."""
    baseline, _, end = wanted.metric.removeprefix(FEWER_STEPS).partition(", ")
    table = found.efficiency
    if not len(table):
        return None
    rows = table[(table["method"] == found.arms(wanted)[0]) & (table["baseline"] == found.evidence.ours(baseline))]
    pairs = found.pairs(wanted)
    rows = rows[[pair in pairs for pair in zip(rows["model"], rows["benchmark"], strict=True)]].dropna(subset=["fewer"])
    if not len(rows) or (end and len(rows) < len(pairs)):
        return None
    row = rows.sort_values("fewer", ascending=end == "least", kind="stable").to_dict("records")[0]
    value, low, high = (_scale(wanted) * float(row[name]) for name in ("fewer", "low", "high"))
    return Estimate(value, low, high, int(row["n"]), int(row["seeds"]), len(rows))


def _gap(wanted: Wanted, found: Measurements) -> Estimate | None:
    """The base model's confidence gap in nats, mean over cells, or the factor exp(-gap / tau) by which it lowers the threshold."""
    gaps = found.offline.dropna(subset=["confidence_gap"]) if len(found.offline) else found.offline
    rows = {(str(model), str(benchmark)): part for (model, benchmark), part in gaps.groupby(["model", "benchmark"])} if len(gaps) else {}
    pairs = found.pairs(wanted)
    if not all(pair in rows for pair in pairs):
        return None
    cells = [Contrast(*pair, "gap", "", rows[pair]["confidence_gap"].to_numpy(np.float64)[None]) for pair in pairs]
    mean = pooled_contrast(cells, found.resamples)
    ends = [float(end[0]) for end in (mean.estimate, mean.low, mean.high)]
    if wanted.metric == FACTOR:
        value, high, low = (confidence_factor(end, TAU) for end in ends)
        ends = [value, low, high]
    return _of_cells(cells, *ends)


def _audited(wanted: Wanted, found: Measurements) -> Estimate | None:
    """A number of the reward audit: mean over seeds, Student's t interval over them where there are two or more."""
    method, baseline = found.arms(wanted)
    (model, benchmark), *others = found.pairs(wanted)
    if others or baseline or not len(found.audit):
        return None
    here = found.audit
    here = here[(here["model"] == model) & (here["benchmark"] == benchmark) & (here["method"] == method)]
    rows = _windowed(here, wanted.window)
    values = _scale(wanted) * rows.dropna(subset=[AUDITED[wanted.metric]]).set_index("seed")[AUDITED[wanted.metric]].to_numpy(np.float64)
    if not values.size:
        return None
    low, high = _seed_interval(values)
    return Estimate(float(values.mean()), low, high, int(rows["groups"].mean()), values.size)


def _windowed(audit: pd.DataFrame, window: str) -> pd.DataFrame:
    """The rows of a window that a paper names: "last 4", "whole run", "first 15 updates", "last 15 updates"."""
    if window in ("first 15 updates", "last 15 updates"):
        parts = audit[audit["window"] == "15 updates"]
        ends = parts.groupby("seed")["first_step"].agg("min" if window.startswith("first") else "max")
        return parts[parts["first_step"] == parts["seed"].map(ends)]
    return audit[audit["window"] == window]


def _seed_interval(values: FloatArray) -> tuple[float, float]:
    if values.size < 2:
        return NAN, NAN
    ends = bootstrap.seed_t_interval(values[None, :, None])
    return float(ends.low[0]), float(ends.high[0])


_WAYS: tuple[tuple[Callable[[str], bool], Callable[[Wanted, Measurements], Estimate | None]], ...] = (
    (lambda metric: metric.endswith(RELATIVE), _relative),
    (lambda metric: metric.startswith(GAP_CLOSED), _gap_closed),
    (lambda metric: metric.endswith(LARGEST), _largest),
    (lambda metric: SPREAD in metric, _spread),
    (lambda metric: metric in (GAP, FACTOR), _gap),
    (lambda metric: metric in (SETTINGS_WON, "settings", SIGN_P, WILCOXON_P), _settings),
    (lambda metric: metric.startswith(FEWER_STEPS), _fewer_steps),
    (lambda metric: metric.endswith(LOWER_BOUND), lambda wanted, found: _score(wanted, wanted.metric.removesuffix(LOWER_BOUND), found)),
)
"""Quantities that are no plain score, by their name."""
