"""Caps that every answer meets before any arithmetic: model text is data of unknown size."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_CHARACTERS = 2000
"""Longer answers are compared as texts only."""
MAX_DEPTH = 100
"""Nesting of groups."""
MAX_TOKENS = 1200
MAX_BITS = 40_000
"""Size of an exact integer; anything larger stays an unexpanded power."""
MAX_FACTORIAL = 3000
MAX_TERMS = 400
"""Terms of an expanded polynomial; beyond it a power stays unexpanded."""
MAX_EXPAND = 40
"""Exponent up to which a sum is multiplied out."""
MAX_STEPS = 60_000
"""Coefficient operations of one reading or one comparison."""
PROOF_SECONDS = 1.2
"""Wall-clock time of all proofs of one comparison."""
GRAMMAR = "5"
"""Version of the grammar; stored verdicts of another version are not read."""


class Refused(ValueError):
    """The text is outside the grammar or beyond a cap; the answer is then compared as a text."""


class _Steps(threading.local):
    """Operations, and seconds for proofs, left to this thread's current question."""

    left = MAX_STEPS
    seconds = PROOF_SECONDS


_steps = _Steps()


@contextmanager
def budget() -> Iterator[None]:
    """A fresh allowance for one question: of operations, a count and not a clock, so that the same text always ends the same way;
    and of seconds for proofs, whose excess is not remembered."""
    before = _steps.left, _steps.seconds
    _steps.left, _steps.seconds = MAX_STEPS, PROOF_SECONDS
    try:
        yield
    finally:
        _steps.left, _steps.seconds = before


def seconds_left() -> float:
    """Seconds that the current question may still spend on proofs."""
    return _steps.seconds


def spend_seconds(seconds: float) -> None:
    """Take what a proof took from the allowance."""
    _steps.seconds -= seconds


def spend(steps: int) -> None:
    """Take operations from the allowance. Refused when it is used up."""
    _steps.left -= steps
    if _steps.left < 0:
        raise Refused("more operations than the cap")
