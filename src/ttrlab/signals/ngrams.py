"""The compiled kernel behind the TF-IDF similarity: count 4-grams in one hash table, then sum products gram by gram.

Compiled code is kept beside this file (or in NUMBA_CACHE_DIR), so that only the first process of an installation waits for the compiler.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from ttrlab.types import FloatArray

GRAM = 4
SMALLEST = 1 << 14


def gram_products(codes: NDArray[np.uint32], offsets: NDArray[np.int64]) -> FloatArray:
    """(n, n) inner products of the unnormalised TF-IDF rows of n texts; text i is ``codes[offsets[i]:offsets[i + 1]]``, code points.

    A run of two or more white-space characters counts as one space, as in scikit-learn's character analyser.
    Sums run in a fixed order without reassociation, so equal texts give equal bits on every run.
    """
    n = offsets.size - 1
    gram, document, count, grams = _count(codes, offsets, np.empty(int(np.diff(offsets).max(initial=0)), np.uint32))
    return _products(gram, document, count, grams, n)


@numba.njit(cache=True)
def is_space(c):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """True for the code points that ``\\s`` matches."""
    if c < 0x80:
        return c == 32 or 9 <= c <= 13 or 28 <= c <= 31
    if c < 0x2000:
        return c == 0x85 or c == 0xA0 or c == 0x1680  # a tuple would cost a second of compiling
    return c <= 0x200A or c == 0x2028 or c == 0x2029 or c == 0x202F or c == 0x205F or c == 0x3000


@numba.njit(cache=True)
def _spaced(text, into):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write ``text`` with each run of two or more white-space characters replaced by one space; return the new length."""
    length, space_before = 0, False
    for code in text:
        space = is_space(code)
        if space and space_before:
            into[length - 1] = 32
        else:
            into[length] = code
            length += 1
        space_before = space
    return length


@numba.njit(cache=True)
def _count(codes, offsets, text):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Entries (gram id, document, term frequency) in order of appearance, and the number of distinct grams.

    ``text``: room for the longest text. Open addressing on two 64-bit keys, which hold four code points without loss. A row of the table
    is (key, key, 1 + latest entry of the gram, its document), 0 where it is empty. The table starts small and doubles, so that it stays
    in the processor's cache for texts that share most of their grams.
    """
    table = np.zeros((SMALLEST, 4), np.uint64)
    gram, document, count = np.empty(codes.size, np.int32), np.empty(codes.size, np.int32), np.empty(codes.size, np.int32)
    entries, grams = 0, 0
    for d in range(offsets.size - 1):
        for t in range(_spaced(codes[offsets[d] : offsets[d + 1]], text) - GRAM + 1):
            a = np.uint64(text[t]) | (np.uint64(text[t + 1]) << np.uint64(32))
            b = np.uint64(text[t + 2]) | (np.uint64(text[t + 3]) << np.uint64(32))
            slot = _slot(table, a, b)
            latest = np.int64(table[slot, 2]) - 1
            if latest >= 0 and table[slot, 3] == d:
                count[latest] += 1
                continue
            document[entries], count[entries] = d, 1
            gram[entries] = grams if latest < 0 else gram[latest]
            entries += 1
            table[slot, 0], table[slot, 1], table[slot, 2], table[slot, 3] = a, b, entries, d
            if latest < 0:
                grams += 1
                if 2 * grams > table.shape[0]:
                    table = _doubled(table)
    return gram[:entries], document[:entries], count[:entries], grams


@numba.njit(cache=True)
def _slot(table, a, b):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The slot of the gram (a, b), or the empty slot where it belongs."""
    mask = np.uint64(table.shape[0] - 1)
    mixed = (a * np.uint64(0x9E3779B97F4A7C15)) ^ (b * np.uint64(0xC2B2AE3D27D4EB4F))
    slot = (mixed ^ (mixed >> np.uint64(29))) & mask
    while table[slot, 2] != 0 and (table[slot, 0] != a or table[slot, 1] != b):
        slot = (slot + np.uint64(1)) & mask
    return slot


@numba.njit(cache=True)
def _doubled(table):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """The same table with twice as many slots."""
    larger = np.zeros((2 * table.shape[0], 4), np.uint64)
    for old in range(table.shape[0]):
        if table[old, 2] != 0:
            slot = _slot(larger, table[old, 0], table[old, 1])
            for column in range(4):
                larger[slot, column] = table[old, column]
    return larger


@numba.njit(cache=True)
def _products(gram, document, count, grams, n):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Sum over grams of the outer product of their weighted term frequencies."""
    starts = np.zeros(grams + 1, np.int64)
    for e in range(gram.size):
        starts[gram[e] + 1] += 1
    for g in range(grams):
        starts[g + 1] += starts[g]
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
