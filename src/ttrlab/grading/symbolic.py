"""Proof that two expressions with the same values are equal, by a worker."""

import json
from fractions import Fraction

from ttrlab.grading.cache import current
from ttrlab.grading.limits import seconds_left, spend_seconds
from ttrlab.grading.normal import Frozen
from ttrlab.grading.verdict import Verdict
from ttrlab.grading.workers import pool

_VERDICTS = {"yes": (Verdict.YES, "proved symbolically"), "no": (Verdict.NO, "disproved symbolically")}


class LateError(TimeoutError):
    """No worker answered in time; the verdict must not be stored."""


def plain(value: object) -> object:
    """Nested tuples as lists and fractions as texts, for JSON."""
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, Fraction) else value


def prove(a: Frozen, b: Frozen) -> tuple[Verdict, str]:
    """YES or NO where a proof is found, else UNDECIDED. LateError past the time limit."""
    question = json.dumps({"a": plain(a), "b": plain(b)})
    cache = current()
    stored = cache.get(question) if cache is not None else None
    if stored is not None:
        return stored
    answer, took = pool().ask(question, seconds_left())
    spend_seconds(took)
    if answer is None:
        raise LateError("no proof within the time limit")
    verdict = _VERDICTS.get(json.loads(answer), (Verdict.UNDECIDED, "equal at fixed points, without a proof"))
    if cache is not None:
        cache.put(question, verdict)
    return verdict
