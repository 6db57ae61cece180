"""Seeded partitions of a benchmark that keep a digit-template family in one part, so that the parts are disjoint by construction."""

from collections.abc import Mapping, Sequence

from ttrlab.benchmarks.table import Item
from ttrlab.benchmarks.text import family
from ttrlab.config.catalogue import Split
from ttrlab.seeds import rng


def split_items(items: Sequence[Item], split: Split, name: str) -> Mapping[str, tuple[Item, ...]]:
    """Part name -> its items, in the order of ``items``. Rows that no part asks for are left out.

    Families are drawn in a seeded order, larger ones first; each goes to the first part with room for all of it. ValueError when
    the parts cannot be filled exactly.
    """
    wanted = sum(split.parts.values())
    if wanted > len(items):
        raise ValueError(f"benchmark {name!r}: the split {split.parts} needs {wanted} rows, there are {len(items)}")
    families: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        families.setdefault(family(item.prompt), []).append(position)
    groups = list(families.values())
    drawn = [groups[i] for i in rng(split.seed, "split").permutation(len(groups))]
    room = dict(split.parts)
    chosen: dict[str, list[int]] = {part: [] for part in split.parts}
    for group in sorted(drawn, key=len, reverse=True):
        part = next((part for part, free in room.items() if free >= len(group)), None)
        if part is not None:
            chosen[part] += group
            room[part] -= len(group)
    if any(room.values()):
        raise ValueError(f"benchmark {name!r}: families of alike questions do not fit the parts {split.parts}; left over: {room}")
    return {part: tuple(items[position] for position in sorted(positions)) for part, positions in chosen.items()}
