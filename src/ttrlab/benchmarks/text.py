"""When two question texts count as the same, or as one template with other numbers."""

import re
import unicodedata

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def normalised(text: str) -> str:
    """Unicode NFKC, case folded, every run of white space one blank: what must differ between two questions."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def family(text: str) -> str:
    """The digit-template family: the normalised text with every number replaced by ``#`` (13, 3.5 and 1,000 are one number each).

    TRUER names a "recorded question-family check" without defining it; this reading is ours.
    """
    return NUMBER.sub("#", normalised(text))
