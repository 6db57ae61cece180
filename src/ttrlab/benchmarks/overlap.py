"""Is a source of labelled questions disjoint from a target? By id, by normalised text and by digit-template family."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from ttrlab.benchmarks.text import family, normalised
from ttrlab.types import Question

Reason = Literal["id", "text", "family"]


@dataclass(frozen=True, slots=True)
class Overlap:
    """A source question that is, by ``reason``, also a target question."""

    source: str
    target: str
    reason: Reason


def overlaps(source: Iterable[Question], target: Iterable[Question]) -> list[Overlap]:
    """Every pair of one source and one target question that are not disjoint, with its strongest reason, in source order."""
    targets = tuple(target)
    keys: dict[Reason, Callable[[Question], str]] = {
        "id": lambda question: question.id,
        "text": lambda question: normalised(question.prompt),
        "family": lambda question: family(question.prompt),
    }
    index: dict[Reason, dict[str, list[str]]] = {reason: {} for reason in keys}
    for reason, key in keys.items():
        for question in targets:
            index[reason].setdefault(key(question), []).append(question.id)
    found: dict[tuple[str, str], Overlap] = {}
    for question in source:
        for reason, key in keys.items():
            for other in index[reason].get(key(question), ()):
                found.setdefault((question.id, other), Overlap(question.id, other, reason))
    return list(found.values())


def require_disjoint(source: Iterable[Question], target: Iterable[Question]) -> None:
    """ValueError that lists every offending pair of ids, if there is one."""
    found = overlaps(source, target)
    if found:
        listed = "\n".join(f"  {pair.source} = {pair.target} (same {pair.reason})" for pair in found)
        raise ValueError(f"source and target share {len(found)} question(s):\n{listed}")
