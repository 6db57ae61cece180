"""Seeded partitions of a benchmark that keep a digit-template family in one part, so that the parts are disjoint by construction."""

from collections.abc import Mapping, Sequence

from ttrlab.benchmarks.table import Item
from ttrlab.benchmarks.text import family
from ttrlab.config.catalogue import Split
from ttrlab.seeds import rng

UNUSED = ""
"""The part of the rows that no part asks for."""


def split_items(items: Sequence[Item], split: Split, name: str) -> Mapping[str, tuple[Item, ...]]:
    """Part name -> its items, in the order of ``items``; rows that no part asks for are left out.

    Families are taken in a seeded order, larger ones first, and drawn into a part with a chance in proportion to its free room, among
    those with room for all of the family. The draw depends on the seed, the parts and the items, so entries that use different parts
    of one split agree. ValueError when the parts cannot be filled exactly.
    """
    unused = len(items) - sum(split.parts.values())
    if unused < 0:
        raise ValueError(f"benchmark {name!r}: the split {split.parts} needs {len(items) - unused} rows, there are {len(items)}")
    families: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        families.setdefault(family(item.prompt), []).append(position)
    groups = list(families.values())
    draw = rng(split.seed, "split")
    shuffled = [groups[i] for i in draw.permutation(len(groups))]
    room = {part: split.parts[part] for part in sorted(split.parts)} | {UNUSED: unused}
    chosen: dict[str, list[int]] = {part: [] for part in room}
    for group in sorted(shuffled, key=len, reverse=True):
        open_parts = [part for part, free in room.items() if free >= len(group)]
        if not open_parts:
            raise ValueError(f"benchmark {name!r}: a family of {len(group)} alike questions fits none of the parts; free room: {room}")
        slot = int(draw.integers(sum(room[part] for part in open_parts)))
        part = next(part for i, part in enumerate(open_parts) if slot < sum(room[before] for before in open_parts[: i + 1]))
        chosen[part] += group
        room[part] -= len(group)
    return {part: tuple(items[position] for position in sorted(chosen[part])) for part in split.parts}
