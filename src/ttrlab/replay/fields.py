"""The fields of other tools' lines, checked as they are read: ValueError says what was expected and what was given."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_text(value: object) -> str:
    """``value`` if it is a text."""
    if not isinstance(value, str):
        raise ValueError(f"expected a text, got {type(value).__name__}")
    return value


def text_of(value: Mapping[str, Any], key: str) -> str:
    """The text under ``key``, which must be there."""
    if key not in value or not isinstance(value[key], str):
        raise ValueError(f"{key!r} must be a text; the line has {sorted(value)}")
    return str(value[key])


def identifier(value: Mapping[str, Any], key: str) -> str:
    """The id under ``key``: a text, or a number as text."""
    if key not in value or isinstance(value[key], bool) or not isinstance(value[key], str | int) or value[key] == "":
        raise ValueError(f"{key!r} must be a text or a number; the line has {sorted(value)}")
    return str(value[key])


def step_of(value: Mapping[str, Any]) -> int:
    """The optional training step, 0 where a line has none."""
    step = value.get("step", 0)
    if not isinstance(step, int) or isinstance(step, bool) or step < 0:
        raise ValueError(f"'step' must be an integer >= 0, got {step!r}")
    return step


def flag(value: Mapping[str, Any], key: str) -> bool:
    """An optional truth value, False where a line has none."""
    given = value.get(key, False)
    if not isinstance(given, bool):
        raise ValueError(f"{key!r} must be true or false, got {given!r}")
    return given


def numbers_or_none(value: Mapping[str, Any], key: str) -> NDArray[np.float32] | None:
    """(T,) optional numbers, one a token."""
    if key not in value or value[key] is None:
        return None
    numbers = np.asarray(value[key], dtype=np.float32)
    if numbers.ndim != 1:
        raise ValueError(f"{key!r} must be one number a token, got shape {numbers.shape}")
    return numbers
