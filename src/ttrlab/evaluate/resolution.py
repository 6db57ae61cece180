"""What a study could see before it is run: the smallest difference between two methods in a cell, and over all cells together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ttrlab.config.study import Plan
from ttrlab.evaluate.power import detectable, planned_error, pooled_error


@dataclass(frozen=True, slots=True)
class Spread:
    """``question``, ``seed``: standard deviations of a paired difference over questions and over seeds; ``correlation``: of the errors of
    two cells on one benchmark."""

    question: float
    seed: float
    correlation: float


def cell_resolutions(plan: Plan, spread: Spread) -> dict[tuple[str, str], float]:
    """(model, benchmark) -> smallest difference found with 80 % power at 5 %, in units of the metric (1 = 100 points)."""
    return {pair: detectable(error) for pair, error in _errors(plan, spread).items()}


def pooled_resolution(plan: Plan, spread: Spread) -> float:
    """The same for the plain mean over all (model, benchmark) cells; cells on one benchmark share their questions."""
    errors = _errors(plan, spread)
    by_benchmark: dict[str, list[float]] = {}
    for (_, benchmark), error in errors.items():
        by_benchmark.setdefault(benchmark, []).append(error)
    shares = [len(own) * pooled_error(own, spread.correlation) / len(errors) for own in by_benchmark.values()]
    return detectable(float(np.sqrt(np.sum(np.square(shares)))))


def _errors(plan: Plan, spread: Spread) -> dict[tuple[str, str], float]:
    seeds = len(plan.study.seeds)
    return {
        (model, benchmark): planned_error(plan.catalogue.benchmarks[benchmark].rows, seeds, spread.question, spread.seed)
        for model, benchmark in plan.study.model_benchmarks
    }


def measured_question_sd(standard_errors: Sequence[float], questions: Sequence[int]) -> float:
    """Median over contrasts of the per-question standard deviation behind their standard errors."""
    return float(np.median(np.asarray(standard_errors) * np.sqrt(questions)))
