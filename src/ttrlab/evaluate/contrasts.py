"""One row a contrast: everything that a table says about "method against baseline in this cell", and about all cells together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.stats import norm

from ttrlab.evaluate import bootstrap, power, tests
from ttrlab.types import FloatArray


@dataclass(frozen=True, slots=True)
class Contrast:
    """Paired differences of one cell: ``differences`` (S, Q), the method's score minus the baseline's, seeds and questions matched.

    An empty ``baseline`` means the method's own score, compared with nothing.
    """

    model: str
    benchmark: str
    method: str
    baseline: str
    differences: FloatArray


def contrasts_from(questions: pd.DataFrame, metric: str, method: str, baseline: str = "") -> list[Contrast]:
    """One contrast a (model, benchmark) that has both methods, over the seeds that both have.

    ``questions``: columns model, benchmark, method, seed, question_id, metric, value; a row a question. ValueError when the two methods, or
    two seeds, were scored on different questions.
    """
    found = []
    scored = questions[questions["metric"] == metric]
    for (model, benchmark), cell in scored.groupby(["model", "benchmark"], sort=False):
        arms = [_scores(cell, arm) for arm in (method, *([baseline] if baseline else []))]
        seeds = sorted(set.intersection(*(set(arm.index) for arm in arms)))
        if not seeds:
            continue
        if any(arm.loc[seeds].isna().any(axis=None) or set(arm.columns) != set(arms[0].columns) for arm in arms):
            raise ValueError(f"{model} / {benchmark}: {method} and {baseline or 'its seeds'} have {metric} on different questions")
        values = [arm.loc[seeds, arms[0].columns].to_numpy(dtype=np.float64) for arm in arms]
        differences = values[0] - values[1] if baseline else values[0]
        found.append(Contrast(str(model), str(benchmark), method, baseline, differences))
    return found


def _scores(cell: pd.DataFrame, method: str) -> pd.DataFrame:
    """Seeds x questions of one method in one cell."""
    return cell[cell["method"] == method].pivot(index="seed", columns="question_id", values="value")


def contrast_table(
    contrasts: Sequence[Contrast], resamples: int = bootstrap.RESAMPLES, level: float = bootstrap.LEVEL, seed: int = 0
) -> pd.DataFrame:
    """Estimates with both intervals, tests with Holm over the whole family, effect sizes, the minimum detectable effect.

    A row a contrast, in the given order. Contrasts on one benchmark share their resamples, so they must share its questions. ``low/high``
    and ``bca_*``: questions resampled, seeds averaged; ``seeds_*`` ("these questions"): seeds resampled, NaN with one seed;
    ``population_*`` ("questions like these"): both, and ``standard_error`` and ``detectable`` follow from it. Tests and effect sizes are on
    the per-question differences averaged over seeds.
    """
    tables = [_block(same, resamples, level, seed) for same in _blocks(contrasts)]
    table = pd.concat(tables).sort_index()
    return table.assign(sign_p_holm=tests.holm(table["sign_p"].to_numpy()), wilcoxon_p_holm=tests.holm(table["wilcoxon_p"].to_numpy()))


def _blocks(contrasts: Sequence[Contrast]) -> list[Mapping[int, Contrast]]:
    """Contrasts with the same benchmark and the same number of seeds, by their place in the list."""
    blocks: dict[tuple[str, int], dict[int, Contrast]] = {}
    questions: dict[str, int] = {}
    for place, contrast in enumerate(contrasts):
        seeds, count = contrast.differences.shape
        if questions.setdefault(contrast.benchmark, count) != count:
            raise ValueError(
                f"{contrast.model} / {contrast.benchmark} / {contrast.method} has {count} questions, "
                f"another contrast on {contrast.benchmark} has {questions[contrast.benchmark]}"
            )
        blocks.setdefault((contrast.benchmark, seeds), {})[place] = contrast
    return list(blocks.values())


def _block(block: Mapping[int, Contrast], resamples: int, level: float, seed: int) -> pd.DataFrame:
    first = next(iter(block.values()))
    stacked = np.stack([contrast.differences for contrast in block.values()])
    _, seeds, questions = stacked.shape
    weights = _question_weights(questions, resamples, seed, first.benchmark)
    seed_weights = bootstrap.resample_weights(seeds, resamples, seed, "seeds")
    by_question = stacked.mean(axis=1)
    conditional = bootstrap.paired(by_question, weights, level=level)
    accelerated = bootstrap.paired(by_question, weights, "bca", level)
    runs = bootstrap.these_questions(stacked, seed_weights, level) if seeds > 1 else None
    both = bootstrap.questions_like_these(stacked, weights, seed_weights, level)
    error = (both.high - both.low) / 2 / norm.ppf((1 + level) / 2)
    return pd.DataFrame(
        {
            "model": [c.model for c in block.values()],
            "benchmark": [c.benchmark for c in block.values()],
            "method": [c.method for c in block.values()],
            "baseline": [c.baseline for c in block.values()],
            "difference": conditional.estimate,
            "n": questions,
            "seeds": seeds,
            "level": level,
            "low": conditional.low,
            "high": conditional.high,
            "bca_low": accelerated.low,
            "bca_high": accelerated.high,
            "seeds_low": np.nan if runs is None else runs.low,
            "seeds_high": np.nan if runs is None else runs.high,
            "population_low": both.low,
            "population_high": both.high,
            "sign_p": [tests.sign_test(row).p for row in by_question],
            "wilcoxon_p": [tests.wilcoxon_test(row).p for row in by_question],
            "cohens_dz": [tests.cohens_dz(row) for row in by_question],
            "rank_biserial": [tests.rank_biserial(row) for row in by_question],
            "standard_error": error,
            "detectable": power.detectable(1.0) * error,
        },
        index=list(block),
    )


def pooled_contrast(
    contrasts: Sequence[Contrast], resamples: int = bootstrap.RESAMPLES, level: float = bootstrap.LEVEL, seed: int = 0
) -> bootstrap.Intervals:
    """The mean difference over cells, each cell counting once, with its "questions like these" interval."""
    estimates = np.array([contrast.differences.mean() for contrast in contrasts])
    return bootstrap.pooled(cell_resamples(contrasts, resamples, seed), estimates, level)


def cell_resamples(contrasts: Sequence[Contrast], resamples: int = bootstrap.RESAMPLES, seed: int = 0) -> list[FloatArray]:
    """(B,) resampled means of each cell. Questions that several cells share are resampled together; seeds within each cell."""
    resampled = []
    for contrast in contrasts:
        seeds, questions = contrast.differences.shape
        weights = _question_weights(questions, resamples, seed, contrast.benchmark)
        seed_weights = bootstrap.resample_weights(seeds, resamples, seed, f"seeds/{contrast.model}/{contrast.benchmark}")
        resampled.append(bootstrap.two_level_means(contrast.differences[None], weights, seed_weights)[:, 0])
    return resampled


@lru_cache(maxsize=16)
def _question_weights(questions: int, resamples: int, seed: int, benchmark: str) -> FloatArray:
    """``resample_weights`` of a benchmark's questions, kept: every table of a study draws the same ones."""
    weights = bootstrap.resample_weights(questions, resamples, seed, benchmark)
    weights.flags.writeable = False
    return weights
