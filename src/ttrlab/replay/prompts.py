"""Which question a prompt belongs to, for files that hold prompts and no ids."""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache

from ttrlab.types import Question

Identify = Callable[[str], str]
"""Prompt -> question id; ValueError when no question, or more than one, stands in it."""


def by_hash(prompt: str) -> str:
    """``prompt-`` and a hash: equal prompts are one question, whose gold cannot be found."""
    return f"prompt-{hashlib.sha256(prompt.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def by_content(questions: Sequence[Question]) -> Identify:
    """The question whose text stands in the prompt, chat template and instruction around it; the longest, where one holds another."""
    texts = sorted(((question.prompt.strip(), question.id) for question in questions), key=lambda pair: -len(pair[0]))

    @lru_cache(maxsize=256)
    def identify(prompt: str) -> str:
        found = [(text, question_id) for text, question_id in texts if text in prompt]
        longest = [question_id for text, question_id in found if len(text) == len(found[0][0])]
        if len(longest) != 1:
            raise ValueError(f"{len(longest)} of {len(texts)} questions stand in the prompt {prompt[:80]!r}, expected one")
        return longest[0]

    return identify
