"""Caps that every answer meets before any arithmetic: model text is data of unknown size."""

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
GRAMMAR = "1"
"""Version of the grammar; stored verdicts of another version are not read."""


class Refused(ValueError):
    """The text is outside the grammar or beyond a cap; the answer is then compared as a text."""
