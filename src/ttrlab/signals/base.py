"""What a signal is, and how its name is read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ttrlab.types import FloatArray, Rollout

SUPPLIED = ("judge_score", "judge_fits", "correct")
"""Signals that the caller fills in: the judge's, and the oracle's verdicts. No roll-out holds them."""


class UnknownSignal(ValueError):
    """A signal name that nothing computes."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A number per roll-out, or per pair of roll-outs, computed from the roll-outs of one question.

    ``requires``: what the engine must have attached (``logprobs``, ``topk_confidence``, ``entropy``, ``self_certainty``). ``function``:
    n roll-outs -> (n,) or (n, n) float64. ``parameters``: names and types of what may follow the colon in
    ``bottom_confidence:window=512``. ``steps``: needs ``Rollout.step_ends``. ``pairwise``: (n, n), recomputed from texts, never stored.
    """

    requires: tuple[str, ...]
    function: Callable[..., FloatArray]
    parameters: Mapping[str, type[int] | type[float]] = field(default_factory=dict)
    steps: bool = False
    pairwise: bool = False


def read_name(name: str, known: Mapping[str, Signal]) -> tuple[Signal, dict[str, int | float]]:
    """The signal and the parameters that ``name`` stands for, e.g. ``tail_confidence:tokens=2048``.

    UnknownSignal lists what there is; ValueError names an unknown or unreadable parameter.
    """
    plain, _, rest = name.partition(":")
    if plain not in known:
        raise UnknownSignal(f"unknown signal {name!r}; known are {sorted(known)}, and a caller may supply {list(SUPPLIED)}")
    signal = known[plain]
    parameters: dict[str, int | float] = {}
    for part in rest.split(",") if rest else ():
        key, _, value = part.partition("=")
        if key not in signal.parameters:
            raise ValueError(f"signal {name!r}: no parameter {key!r}; {plain} takes {sorted(signal.parameters)}")
        try:
            parameters[key] = signal.parameters[key](value)
        except ValueError:
            raise ValueError(f"signal {name!r}: {key} must be {signal.parameters[key].__name__}, got {value!r}") from None
    return signal, parameters


def token_numbers(rollouts: Sequence[Rollout], stat: str) -> list[NDArray[np.float32]]:
    """The (T,) numbers ``stat`` of each roll-out; ValueError names the first roll-out that lacks them, has no token or a non-finite one."""
    values = [number_of(rollout, stat) for rollout in rollouts]
    for index, (rollout, numbers) in enumerate(zip(rollouts, values, strict=True)):
        where = f"roll-out {index} ({rollout.text[:40]!r})"
        if numbers is None:
            raise ValueError(f"{where} has no {stat}; it has {stats_of(rollout) or 'none'}")
        if numbers.size == 0:
            raise ValueError(f"{where} has no tokens, so {stat} has no mean")
        if not np.isfinite(numbers).all():
            token = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise ValueError(f"{where}: {stat} of token {token} is {numbers[token]}, expected a finite number")
    return [numbers for numbers in values if numbers is not None]


def number_of(rollout: Rollout, stat: str) -> NDArray[np.float32] | None:
    """The (T,) numbers ``stat`` of a roll-out, None where the engine did not attach them."""
    if stat == "logprobs":
        return rollout.logprobs
    return rollout.token_stats.get(stat)


def stats_of(rollout: Rollout) -> list[str]:
    """Names of what the engine attached to a roll-out."""
    return [*(["logprobs"] if rollout.logprobs is not None else []), *sorted(rollout.token_stats)]
