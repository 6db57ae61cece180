"""The compiled kernel behind the TF-IDF similarity: count 4-grams in one hash table, then sum products gram by gram.

Compiled code is kept beside this file (or in NUMBA_CACHE_DIR), so that only the first process of an installation waits for the compiler.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from ttrlab.types import FloatArray

GRAM = 4
SMALLEST = 1 << 14
_EMPTY = -1


def gram_products(codes: NDArray[np.uint32], offsets: NDArray[np.int64]) -> FloatArray:
    """(n, n) inner products of the unnormalised TF-IDF rows of n texts; text i is ``codes[offsets[i]:offsets[i + 1]]``.

    Sums run in a fixed order without reassociation, so equal texts give equal bits on every run.
    """
    n = offsets.size - 1
    gram, document, count, grams = _count(codes, offsets)
    return _products(gram, document, count, grams, n)


@numba.njit(cache=True)
def _count(codes, offsets):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Entries (gram id, document, term frequency) in order of appearance, and the number of distinct grams.

    Open addressing on two 64-bit keys, which hold four code points without loss. The table starts small and doubles, so that it stays in
    the processor's cache for texts that share most of their grams.
    """
    total = 0
    for d in range(offsets.size - 1):
        total += max(0, offsets[d + 1] - offsets[d] - GRAM + 1)
    keys, latest = np.empty((SMALLEST, 2), np.uint64), np.full(SMALLEST, _EMPTY, np.int32)  # slot -> latest entry of its gram
    gram, document, count = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int32)
    entries, grams = 0, 0
    for d in range(offsets.size - 1):
        for t in range(offsets[d], offsets[d + 1] - GRAM + 1):
            a = np.uint64(codes[t]) | (np.uint64(codes[t + 1]) << np.uint64(32))
            b = np.uint64(codes[t + 2]) | (np.uint64(codes[t + 3]) << np.uint64(32))
            slot = _slot(keys, latest, a, b)
            entry = latest[slot]
            if entry != _EMPTY and document[entry] == d:
                count[entry] += 1
                continue
            keys[slot, 0], keys[slot, 1], latest[slot] = a, b, entries
            document[entries], count[entries] = d, 1
            gram[entries] = grams if entry == _EMPTY else gram[entry]
            entries += 1
            if entry == _EMPTY:
                grams += 1
                if 2 * grams > latest.size:
                    keys, latest = _doubled(keys, latest)
    return gram[:entries], document[:entries], count[:entries], grams


@numba.njit(cache=True)
def _slot(keys, latest, a, b):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The slot of the gram (a, b), or the empty slot where it belongs."""
    mask = np.uint64(latest.size - 1)
    mixed = (a * np.uint64(0x9E3779B97F4A7C15)) ^ (b * np.uint64(0xC2B2AE3D27D4EB4F))
    slot = (mixed ^ (mixed >> np.uint64(29))) & mask
    while latest[slot] != _EMPTY and (keys[slot, 0] != a or keys[slot, 1] != b):
        slot = (slot + np.uint64(1)) & mask
    return slot


@numba.njit(cache=True)
def _doubled(keys, latest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The same table with twice as many slots."""
    new_keys, new_latest = np.empty((2 * latest.size, 2), np.uint64), np.full(2 * latest.size, _EMPTY, np.int32)
    for old in range(latest.size):
        if latest[old] != _EMPTY:
            slot = _slot(new_keys, new_latest, keys[old, 0], keys[old, 1])
            new_keys[slot, 0], new_keys[slot, 1], new_latest[slot] = keys[old, 0], keys[old, 1], latest[old]
    return new_keys, new_latest


@numba.njit(cache=True)
def _products(gram, document, count, grams, n):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Sum over grams of the outer product of their weighted term frequencies."""
    starts = np.zeros(grams + 1, np.int64)
    for e in range(gram.size):
        starts[gram[e] + 1] += 1
    starts = np.cumsum(starts)
    place = starts[:-1].copy()
    order = np.empty(gram.size, np.int32)
    for e in range(gram.size):  # counting sort: documents stay ascending within a gram
        order[place[gram[e]]] = e
        place[gram[e]] += 1
    products, row = np.zeros((n, n)), np.zeros(n)
    for g in range(grams):
        df = starts[g + 1] - starts[g]
        idf = np.log((1.0 + n) / (1.0 + df)) + 1.0
        members = order[starts[g] : starts[g + 1]]
        if df > n // 4:
            row[:] = 0.0
            for e in members:
                row[document[e]] = count[e] * idf
            for e in members:
                value, into = count[e] * idf, products[document[e]]
                for j in range(n):
                    into[j] += value * row[j]
        else:
            for e in members:
                value, into = count[e] * idf, products[document[e]]
                for f in members:
                    into[document[f]] += value * (count[f] * idf)
    return products
