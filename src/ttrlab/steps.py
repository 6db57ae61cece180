"""Where the reasoning steps of a response end: SCOPE's split at blank lines, on token boundaries."""

from collections.abc import Sequence


def step_ends(token_texts: Sequence[str]) -> tuple[int, ...]:
    """Exclusive ends of the reasoning steps of a response whose T tokens read ``token_texts``; the last one is T, () for no tokens.

    SCOPE (arXiv:2512.15146, section 3.1) splits at ``\\n\\n``. A token whose text contains a blank line, or whose first newline
    completes one that the token before began, closes its step and belongs to it; a tail without delimiter is a step. A stretch of white
    space alone (a third newline, an empty end-of-sequence token) is no step of its own: its tokens belong to the step before, or to
    the first step. The public code looks for the first token of the encoded ``\\n\\n`` instead, which misses merged tokens such as
    ``.\\n\\n`` in some vocabularies.
    """
    ends: list[int] = []
    start, newline_before = 0, False
    for index, text in enumerate(token_texts):
        closes = "\n\n" in text or (newline_before and text.startswith("\n"))
        newline_before = text.endswith("\n") if text else newline_before
        if closes:
            _close(ends, token_texts, start, index + 1)
            start = index + 1
    if start < len(token_texts):
        _close(ends, token_texts, start, len(token_texts))
    return tuple(ends)


def _close(ends: list[int], token_texts: Sequence[str], start: int, end: int) -> None:
    """Close the step at ``end``; white space alone widens the step before, and white space at the very start waits for its step."""
    if any(text.strip() for text in token_texts[start:end]) or (not ends and end == len(token_texts)):
        ends.append(end)
    elif ends:
        ends[-1] = end
