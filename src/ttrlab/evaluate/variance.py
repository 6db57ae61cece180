"""Where the variance of a score comes from: questions, seeds, their interaction, decoding.

Random-effects model x[s, q, i] = mean + question_q + seed_s + (seed x question)_sq + decoding_sqi, seeds and questions crossed, decoding
nested; components by the method of moments (expected mean squares of the balanced two-way layout). They say what a larger benchmark, more
runs or more samples would buy.
"""

from dataclasses import dataclass

import numpy as np

from ttrlab.types import FloatArray


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of one roll-out's score, or of a paired difference (squared score units).

    ``decoding`` is per cell (one question in one seed), already divided by its samples. Moment estimates can be negative; they are kept
    as they come and read as 0 by ``standard_error`` and ``shares``. With one seed, ``seed`` and ``interaction`` are NaN: the first cannot
    be seen, the second is inside ``question``.
    """

    question: float
    seed: float
    interaction: float
    decoding: float
    questions: int
    seeds: int

    def standard_error(self, questions: int | None = None, seeds: int | None = None, decoding_factor: float = 1.0) -> float:
        """Of the mean over ``questions`` and ``seeds`` (default: as measured), both taken as samples from more.

        ``decoding_factor``: 2 halves the samples a question, 0.5 doubles them.
        """
        q, s = questions or self.questions, seeds or self.seeds
        parts = self.question / q, self.seed / s, self.interaction / (q * s), self.decoding * decoding_factor / (q * s)
        return float(np.sqrt(sum(max(part, 0.0) for part in parts if not np.isnan(part))))

    def shares(self) -> dict[str, float]:
        """Shares of the variance of the measured mean, by source; they sum to 1."""
        q, s = self.questions, self.seeds
        parts = {"question": self.question / q, "seed": self.seed / s, "interaction": self.interaction / (q * s)}
        parts = {name: max(part, 0.0) for name, part in (parts | {"decoding": self.decoding / (q * s)}).items() if not np.isnan(part)}
        total = sum(parts.values())
        return {name: part / total if total else float("nan") for name, part in parts.items()}


def split(samples: FloatArray) -> Components:
    """Components of (S, Q, n) scores, n >= 2 samples a cell."""
    if samples.ndim != 3 or samples.shape[2] < 2:
        raise ValueError(f"samples must be (seeds, questions, at least 2 samples), got {samples.shape}")
    return from_cells(samples.mean(axis=2), samples.var(axis=2, ddof=1) / samples.shape[2])


def split_difference(first: FloatArray, second: FloatArray) -> Components:
    """Components of the paired difference of two arms, each (S, Q, n): same seeds, same questions, decoding independent."""
    noise = [arm.var(axis=2, ddof=1) / arm.shape[2] for arm in (first, second)]
    return from_cells(first.mean(axis=2) - second.mean(axis=2), noise[0] + noise[1])


def from_cells(means: FloatArray, noise: FloatArray) -> Components:
    """Components from (S, Q) cell means and the (S, Q) decoding variance of each of them."""
    if means.shape != noise.shape or means.ndim != 2 or means.shape[1] < 2:
        raise ValueError(f"means and noise must both be (seeds, at least 2 questions), got {means.shape} and {noise.shape}")
    seeds, questions = means.shape
    decoding = float(noise.mean())
    if seeds == 1:
        return Components(float(means.var(ddof=1)) - decoding, float("nan"), float("nan"), decoding, questions, seeds)
    by_question, by_seed = means.mean(axis=0), means.mean(axis=1)
    residual = means - by_question - by_seed[:, None] + means.mean()
    mean_square = float((residual**2).sum()) / ((seeds - 1) * (questions - 1))
    return Components(
        question=float(by_question.var(ddof=1)) - mean_square / seeds,
        seed=float(by_seed.var(ddof=1)) - mean_square / questions,
        interaction=mean_square - decoding,
        decoding=decoding,
        questions=questions,
        seeds=seeds,
    )
