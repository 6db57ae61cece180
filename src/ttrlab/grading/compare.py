"""Equality of two answers and the classes of many."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ttrlab.grading.canon import read
from ttrlab.grading.limits import Refused, budget
from ttrlab.grading.match import same
from ttrlab.grading.symbolic import LateError
from ttrlab.grading.values import Value, key
from ttrlab.grading.verdict import Verdict

NO_ANSWER = -1


@lru_cache(maxsize=65_536)
def keyed(answer: str) -> tuple[str, Value]:
    """The printable key and the value of an answer."""
    value = read(answer)
    return key(value), value


def normalize(answer: str) -> str:
    """The printable canonical key of an answer; equal keys mean equal answers."""
    return keyed(answer)[0]


@lru_cache(maxsize=65_536)
def _decided(a: Value, b: Value) -> tuple[Verdict, str]:
    try:
        return same(a, b)
    except (Refused, RecursionError) as error:
        return Verdict.UNDECIDED, f"beyond the limits: {error}"


def _explain_keys(a: Value, b: Value) -> tuple[Verdict, str]:
    """The verdict on two values in key order, remembered unless a worker was late."""
    try:
        with budget():
            return _decided(a, b)
    except LateError as error:
        return Verdict.UNDECIDED, str(error)


def explain(a: str, b: str) -> tuple[Verdict, str]:
    """The verdict on two answers and the reason for it, in words; symmetric."""
    left, right = keyed(a), keyed(b)
    if left[0] == right[0]:
        return Verdict.YES, f"same key: {left[0]}"
    first, second = sorted((left, right), key=lambda pair: pair[0])
    return _explain_keys(first[1], second[1])


def equal(a: str, b: str) -> Verdict:
    """Whether two answers mean the same; symmetric, never raises on text."""
    return explain(a, b)[0]


def classes(answers: Sequence[str | None]) -> NDArray[np.int64]:
    """(n,) class ids by first appearance, -1 for None; an equivalence relation, the same whatever the order up to numbering.

    An answer that allows several readings (28%, x = 5, 5 cm) joins the bare answers of its group; where two that differ claim
    the same bare answer, the more frequent one joins (ties: the smaller key).
    """
    keys = [None if a is None else keyed(a) for a in answers]
    counts = Counter(k[0] for k in keys if k is not None)
    group_of = _grouped({k[0]: k[1] for k in keys if k is not None}, counts)
    ids: dict[str, int] = {}
    return np.array([NO_ANSWER if k is None else ids.setdefault(group_of[k[0]], len(ids)) for k in keys], dtype=np.int64)


def _grouped(values: dict[str, Value], counts: Counter[str]) -> dict[str, str]:
    """Key to the smallest key of its class."""
    if len(values) == 1:
        return {k: k for k in values}
    names = sorted(values)
    plain = _closed([n for n in names if not values[n].ambiguous], values)
    ambiguous = _closed([n for n in names if values[n].ambiguous], values)
    claims: dict[str, list[tuple[int, str]]] = {}
    for root in sorted(set(ambiguous.values())):
        members = [n for n in ambiguous if ambiguous[n] == root]
        target = _claim(members, plain, values)
        if target is not None:
            claims.setdefault(target, []).append((-sum(counts[n] for n in members), root))
    renamed = {min(claim)[1]: target for target, claim in claims.items()}
    return plain | {n: renamed.get(root, root) for n, root in ambiguous.items()}


def _claim(members: list[str], plain: dict[str, str], values: dict[str, Value]) -> str | None:
    """The class of bare answers that these ambiguous ones join: their first reading where it occurs, else another."""
    found = sorted({plain[p] for p in plain for m in members if _explain_keys(*_sorted(values[m], values[p]))[0] is Verdict.YES})
    if len(found) > 1:
        first = {key(values[m].bare()) for m in members}
        preferred = [f for f in found if any(p in first for p in plain if plain[p] == f)]
        return (preferred or found)[0]
    return found[0] if found else None


def _sorted(a: Value, b: Value) -> tuple[Value, Value]:
    return (a, b) if key(a) <= key(b) else (b, a)


def _closed(names: list[str], values: dict[str, Value]) -> dict[str, str]:
    """Transitive closure of YES over sorted names: name to the smallest name of its class."""
    roots: list[list[str]] = []
    for name in names:
        joined = [r for r in roots if any(_explain_keys(*_sorted(values[name], values[other]))[0] is Verdict.YES for other in r)]
        merged = [name] + [n for r in joined for n in r]
        roots = [r for r in roots if r not in joined] + [merged]
    return {n: min(r) for r in roots for n in r}
