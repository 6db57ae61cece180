"""The pre-training corpus: how a model of the lab answers, right and wrong, regime by regime."""

from collections.abc import Mapping

import numpy as np

from ttrlab.benchmarks.lab.world import CORPUS_SUMS, TOPICS, TOPICS_PER_REGIME, Sum, question_text, response_text, wording
from ttrlab.config.lab import Regime

SLIP_WORDS = 4


def shares(regime: Regime, topic_number: int, total: Sum) -> tuple[float, float]:
    """Shares of the right answer and of the planted error for one topic and sum.

    Topics spread evenly over +- ``spread`` around the regime's shares, and the visible feature moves them by as much again.
    """
    offset = regime.spread * (2 * topic_number / (TOPICS_PER_REGIME - 1) - 1 + total.feature) / 2
    return min(1.0, max(0.0, regime.right + offset)), min(1.0, max(0.0, regime.wrong - offset))


def answer(draw: np.random.Generator, regime: Regime, topic_number: int, total: Sum) -> str:
    """One response as the corpus has it."""
    if regime.right == regime.wrong == 0:
        return response_text(wording(draw, regime.words_right), int(draw.integers(10, 19)), int(draw.integers(20, 100)))
    right, wrong = shares(regime, topic_number, total)
    chance = draw.random()
    if chance < right:
        return response_text(wording(draw, regime.words_right), total.units, total.right)
    if chance < right + wrong:
        return response_text(wording(draw, regime.words_wrong), total.units, total.wrong)
    slip = total.right + int(draw.choice([-2, -1, 1, 2]))
    return response_text(wording(draw, SLIP_WORDS), total.units, min(99, max(10, slip)))


def draw_questions(draw: np.random.Generator, regimes: Mapping[str, Regime], size: int) -> list[tuple[str, int, str, Sum]]:
    """``size`` questions of the corpus: regime (by weight), number of the topic in it, topic, sum."""
    names = list(regimes)
    weights = np.array([regimes[name].weight for name in names])
    chosen = draw.choice(len(names), size, p=weights / weights.sum())
    topics = draw.integers(0, TOPICS_PER_REGIME, size)
    sums = draw.integers(0, len(CORPUS_SUMS), size)
    return [
        (names[which], number, TOPICS[names[which]][number], CORPUS_SUMS[place])
        for which, number, place in zip(chosen.tolist(), topics.tolist(), sums.tolist(), strict=True)
    ]


def batch(draw: np.random.Generator, regimes: Mapping[str, Regime], size: int) -> list[tuple[str, str]]:
    """``size`` (prompt, response) pairs."""
    return [
        (question_text(topic, total), answer(draw, regimes[name], number, total))
        for name, number, topic, total in draw_questions(draw, regimes, size)
    ]
