"""Named random streams: one seed and a list of names give one independent stream, the same on every machine and in every order."""

import hashlib

import numpy as np


def stream(seed: int, *names: str | int) -> int:
    """A 63-bit integer from ``seed`` and ``names`` by SHA-256; for libraries that take an integer seed (torch, vLLM).

    Each name is length-prefixed, so ``("ab", "c")`` and ``("a", "bc")`` are different streams.
    """
    parts = [f"{len(str(name))}:{name}" for name in (seed, *names)]
    return int.from_bytes(hashlib.sha256("/".join(parts).encode()).digest()[:8], "big") >> 1


def rng(seed: int, *names: str | int) -> np.random.Generator:
    """A numpy generator for the stream ``(seed, *names)``."""
    return np.random.Generator(np.random.PCG64(stream(seed, *names)))
