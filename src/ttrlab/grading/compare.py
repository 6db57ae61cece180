"""Equality of two answers and the classes of many."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ttrlab.grading.canon import read
from ttrlab.grading.limits import MAX_CHARACTERS, Refused, budget
from ttrlab.grading.match import same
from ttrlab.grading.symbolic import LateError
from ttrlab.grading.values import Value, key, shown
from ttrlab.grading.verdict import Verdict

NO_ANSWER = -1


class Keyed:
    """A value that is hashed and compared by its printable key alone."""

    __slots__ = ("key", "value")

    def __init__(self, value: Value) -> None:
        self.value = value
        self.key = key(value)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed) and self.key == other.key


def keyed(answer: str) -> Keyed:
    """The value of an answer with its key; texts beyond the cap are not remembered."""
    return _remembered(answer) if len(answer) <= MAX_CHARACTERS else Keyed(read(answer))


@lru_cache(maxsize=65_536)
def _remembered(answer: str) -> Keyed:
    return Keyed(read(answer))


def normalize(answer: str) -> str:
    """The printable canonical key of an answer; equal keys mean equal answers."""
    return keyed(answer).key


@lru_cache(maxsize=262_144)
def _decided(a: Keyed, b: Keyed) -> tuple[Verdict, str]:
    """The verdict on two values in key order; LateError, which is not remembered, when a worker was late."""
    try:
        with budget():
            return same(a.value, b.value)
    except (Refused, RecursionError) as error:
        return Verdict.UNDECIDED, f"beyond the limits: {error}"


def judged(a: Keyed, b: Keyed) -> tuple[Verdict, str]:
    """The verdict on two values and its reason, the same from both sides."""
    if a.key == b.key:
        return Verdict.YES, f"same key: {shown(a.key)}"
    try:
        return _decided(a, b) if a.key < b.key else _decided(b, a)
    except LateError as error:
        return Verdict.UNDECIDED, str(error)


def explain(a: str, b: str) -> tuple[Verdict, str]:
    """The verdict on two answers and the reason for it, in words; symmetric."""
    return judged(keyed(a), keyed(b))


def equal(a: str, b: str) -> Verdict:
    """Whether two answers mean the same; symmetric, never raises on text."""
    return explain(a, b)[0]


def classes(answers: Sequence[str | None]) -> NDArray[np.int64]:
    """(n,) class ids by first appearance, -1 for None; an equivalence relation, the same whatever the order up to numbering.

    An answer that allows several readings (28%, x = 5, 5 cm) joins the bare answers of its group; where two that differ claim
    the same bare answer, the more frequent one joins (ties: the smaller key).
    """
    found = [None if a is None else keyed(a) for a in answers]
    counts = Counter(k.key for k in found if k is not None)
    group_of = _grouped({k.key: k for k in found if k is not None}, counts)
    ids: dict[str, int] = {}
    return np.array([NO_ANSWER if k is None else ids.setdefault(group_of[k.key], len(ids)) for k in found], dtype=np.int64)


def _grouped(values: dict[str, Keyed], counts: Counter[str]) -> dict[str, str]:
    """Key to the key that stands for its class."""
    if len(values) == 1:
        return {k: k for k in values}
    names = sorted(values)
    plain = _closed([n for n in names if not values[n].value.ambiguous], values)
    ambiguous = _closed([n for n in names if values[n].value.ambiguous], values)
    claims: dict[str, list[tuple[int, str]]] = {}
    for root in sorted(set(ambiguous.values())):
        members = [n for n in ambiguous if ambiguous[n] == root]
        target = _claim(members, plain, values)
        if target is not None:
            claims.setdefault(target, []).append((-sum(counts[n] for n in members), root))
    renamed = {min(claim)[1]: target for target, claim in claims.items()}
    return plain | {n: renamed.get(root, root) for n, root in ambiguous.items()}


def _claim(members: list[str], plain: dict[str, str], values: dict[str, Keyed]) -> str | None:
    """The class of bare answers that these ambiguous ones join: their first reading where it occurs, else another."""
    found = sorted({plain[p] for p in plain for m in members if judged(values[m], values[p])[0] is Verdict.YES})
    if len(found) > 1:
        first = {key(values[m].value.bare()) for m in members}
        preferred = [f for f in found if any(p in first for p in plain if plain[p] == f)]
        return (preferred or found)[0]
    return found[0] if found else None


def _closed(names: list[str], values: dict[str, Keyed]) -> dict[str, str]:
    """Transitive closure of YES over sorted names: name to the smallest name of its class."""
    roots: list[list[str]] = []
    for name in names:
        joined = [r for r in roots if any(judged(values[name], values[other])[0] is Verdict.YES for other in r)]
        if joined:
            roots = [r for r in roots if r not in joined]
        roots.append([name, *(n for r in joined for n in r)])
    return {n: min(r) for r in roots for n in r}
