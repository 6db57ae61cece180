"""Paired bootstrap of 60 contrasts, 10,000 resamples of 600 questions: the vectorised form against a plain numpy loop.

Run: python bench/bench_evidence.py
"""

import time

import numpy as np

from ttrlab.evaluate import bootstrap

QUESTIONS, CONTRASTS, RESAMPLES, LOOPED = 600, 60, 10_000, 3


def plain(differences: np.ndarray, seed: int) -> tuple[float, float]:
    """The textbook loop: draw questions, average, repeat; then the quantiles."""
    generator = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    for b in range(RESAMPLES):
        means[b] = differences[generator.integers(0, differences.size, differences.size)].mean()
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    generator = np.random.default_rng(0)
    differences = (generator.binomial(16, 0.55, (CONTRASTS, QUESTIONS)) - generator.binomial(16, 0.5, (CONTRASTS, QUESTIONS))) / 16
    start = time.process_time()
    looped = [plain(differences[c], c) for c in range(LOOPED)]
    per_loop = (time.process_time() - start) / LOOPED
    print(f"plain numpy loop            {1e3 * per_loop:8.2f} CPU ms a contrast")
    for method in ("percentile", "bca"):
        start = time.process_time()
        intervals = bootstrap.paired(differences, bootstrap.resample_weights(QUESTIONS, RESAMPLES), method)
        per_contrast = (time.process_time() - start) / CONTRASTS
        print(f"shared weights, {method:10s}  {1e3 * per_contrast:8.2f} CPU ms a contrast   {per_loop / per_contrast:6.1f} x faster")
        gap = max(abs(intervals.low[c] - looped[c][0]) + abs(intervals.high[c] - looped[c][1]) for c in range(LOOPED))
        assert gap < 0.003, f"the two disagree by {gap}"


if __name__ == "__main__":
    main()
