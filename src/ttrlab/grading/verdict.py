"""What a comparison can say."""

from enum import Enum


class Verdict(Enum):
    """Whether two answers mean the same. UNDECIDED is neither: whoever uses it counts and shows it."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"
