"""What a study can see: power, and the smallest effect that it would find, for one cell and for cells together."""

from collections.abc import Sequence

import numpy as np
from scipy import optimize, stats

ALPHA = 0.05
POWER = 0.8


def power(effect: float, standard_error: float, alpha: float = ALPHA, freedom: float | None = None) -> float:
    """Chance that a two-sided test at ``alpha`` finds a true ``effect``; normal, or Student's with ``freedom`` degrees."""
    if standard_error <= 0:
        raise ValueError(f"standard_error must be positive, got {standard_error}")
    shift = abs(effect) / standard_error
    if freedom is None:
        critical = stats.norm.isf(alpha / 2)
        return float(stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift))
    critical = stats.t.isf(alpha / 2, freedom)
    return float(stats.nct.sf(critical, freedom, shift) + stats.nct.sf(critical, freedom, -shift))


def detectable(standard_error: float, alpha: float = ALPHA, wanted: float = POWER, freedom: float | None = None) -> float:
    """Minimum detectable effect: the true effect that the test finds with probability ``wanted``.

    About (1.96 + 0.84) standard errors at the defaults; more with few degrees of freedom (3 seeds: 2 degrees).
    """
    if not alpha < wanted < 1:
        raise ValueError(f"the wanted power must lie between alpha={alpha} and 1, got {wanted}")
    enough = 1.0
    while power(enough, 1.0, alpha, freedom) < wanted:
        enough *= 2
    return float(optimize.brentq(lambda shift: power(shift, 1.0, alpha, freedom) - wanted, 0.0, enough)) * standard_error


def pooled_error(standard_errors: Sequence[float], correlation: float = 0.0) -> float:
    """Standard error of the plain mean over C cells, every two of which correlate by ``correlation``.

    Cells on one benchmark share their questions, so 0 flatters them: give the correlation that the resampled means of the cells show.
    """
    errors = np.asarray(standard_errors, dtype=np.float64)
    if not (errors.size and -1 <= correlation <= 1):
        raise ValueError(f"expected standard errors and a correlation in [-1, 1], got {errors.tolist()} and {correlation}")
    own, between = (errors**2).sum(), errors.sum() ** 2 - (errors**2).sum()
    return float(np.sqrt(max(own + correlation * between, 0.0)) / errors.size)


def planned_error(questions: int, seeds: int, question_sd: float, seed_sd: float = 0.0) -> float:
    """Standard error of a paired difference before anything is measured.

    ``question_sd``: standard deviation over questions of the per-question difference (decoding noise included); ``seed_sd``: of the
    whole cell's difference over seeds. ``sd_from_interval`` reads the first off a published interval.
    """
    if questions < 1 or seeds < 1 or question_sd < 0 or seed_sd < 0:
        raise ValueError(f"expected positive counts and deviations >= 0, got {questions}, {seeds}, {question_sd}, {seed_sd}")
    return float(np.sqrt(question_sd**2 / questions + seed_sd**2 / seeds))


def sd_from_interval(low: float, high: float, questions: int, level: float = 0.95) -> float:
    """The per-question standard deviation behind a published interval of a mean over ``questions``."""
    return float((high - low) / (2 * stats.norm.isf((1 - level) / 2)) * np.sqrt(questions))


def questions_needed(effect: float, question_sd: float, alpha: float = ALPHA, wanted: float = POWER) -> int:
    """Questions at which ``effect`` is the minimum detectable one."""
    return int(np.ceil((detectable(question_sd, alpha, wanted) / effect) ** 2))
