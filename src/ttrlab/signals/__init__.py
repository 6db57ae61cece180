"""Numbers that a rule may ask for by name, computed from the roll-outs of one question only if it does."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ttrlab.signals import confidence, similarity
from ttrlab.signals import entropy as vocabulary
from ttrlab.signals.base import SUPPLIED, Signal, UnknownSignal, number_of, read_name
from ttrlab.signals.similarity import embedding_similarity
from ttrlab.types import Rollout

__all__ = ["SIGNALS", "SUPPLIED", "Signal", "UnknownSignal", "compute", "embedding_similarity", "per_rollout_signals", "required_stats"]

SIGNALS: Mapping[str, Signal] = MappingProxyType(
    {
        "mean_logprob": Signal(("logprobs",), confidence.mean_logprob),
        "sequence_probability": Signal(("logprobs",), confidence.sequence_probability),
        "trace_confidence": Signal(("topk_confidence",), confidence.trace_confidence),
        "step_confidence": Signal(("topk_confidence",), confidence.step_confidence, steps=True),
        "bottom_confidence": Signal(("topk_confidence",), confidence.bottom_confidence, {"window": int, "share": float}),
        "tail_confidence": Signal(("topk_confidence",), confidence.tail_confidence, {"tokens": int, "share": float}),
        "step_surprisal": Signal(("logprobs",), confidence.step_surprisal, steps=True),
        "entropy": Signal(("entropy",), vocabulary.entropy),
        "self_certainty": Signal(("self_certainty",), vocabulary.self_certainty),
        "reasoning_similarity": Signal((), similarity.reasoning_similarity, pairwise=True),
    }
)
"""Signal name -> how it is computed. ``name:key=value`` sets a parameter; the plain name stands for the defaults."""

STORED = (
    *(name for name, signal in SIGNALS.items() if not signal.pairwise),
    "bottom_confidence:window=2048",
    "bottom_confidence:window=2048,share=0",
    "tail_confidence:tokens=2048",
)
"""What a stored pool keeps: every (n,) signal at its defaults, and DeepConf's windows."""

NO_CALLBACKS: Mapping[str, Signal] = MappingProxyType({})


def compute(
    names: Iterable[str], rollouts: Sequence[Rollout], callbacks: Mapping[str, Signal] = NO_CALLBACKS
) -> dict[str, NDArray[np.generic]]:
    """name -> (n,) or (n, n) float64 for each of ``names``, skipping those that a caller supplies (``SUPPLIED``).

    ``callbacks``: further signals by name, such as ``embedding_similarity``. UnknownSignal for a name that nothing computes; ValueError
    names the roll-out that lacks what a signal requires, or has a NaN in it.
    """
    computed: dict[str, NDArray[np.generic]] = {}
    for name in names:
        if name not in SUPPLIED:
            signal, parameters = read_name(name, {**SIGNALS, **callbacks})
            computed[name] = signal.function(rollouts, **parameters)
    return computed


def required_stats(names: Iterable[str], callbacks: Mapping[str, Signal] = NO_CALLBACKS) -> frozenset[str]:
    """What an engine must attach to roll-outs so that ``names`` can be computed; UnknownSignal for a name that nothing computes.

    A subset of ``logprobs``, ``topk_confidence``, ``entropy``, ``self_certainty``. Supplied signals require nothing of the engine.
    """
    known = {**SIGNALS, **callbacks}
    return frozenset(stat for name in names if name not in SUPPLIED for stat in read_name(name, known)[0].requires)


def per_rollout_signals(rollouts: Sequence[Rollout]) -> dict[str, NDArray[np.generic]]:
    """Every (n,) signal in ``STORED`` that the numbers attached to all of these roll-outs allow."""
    marked = all(rollout.step_ends is not None for rollout in rollouts)
    given = {stat for stat in required_stats(STORED) if all(number_of(rollout, stat) is not None for rollout in rollouts)}
    allowed = [
        name
        for name in STORED
        for signal, _ in [read_name(name, SIGNALS)]
        if given.issuperset(signal.requires) and (marked or not signal.steps)
    ]
    return compute(allowed, rollouts)
