"""A judge's output as a function of its prompt; no imports that slow a process down."""

import hashlib


def hashed_output(prompt: str) -> str:
    """Scores 0..10 by a hash of the prompt, and some outputs that are malformed."""
    score = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big") % 12
    return f'I check.\n{{"reason": "check {score}", "score": {score}}}' if score <= 10 else "I cannot say."
