"""After a GPU ran out of memory: the next attempt holds less at a time and learns the same.

A micro-batch sums a part of a gradient and vLLM's share of a GPU holds its cache: the gradient depends on neither. Each descent is one row
of ``memory.jsonl`` in the run's folder. Host memory is another matter: SLURM kills for it, and the profile asks for more next time.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ttrlab.config.hardware import Hardware
from ttrlab.config.settings import Training
from ttrlab.files import read_jsonl, write_jsonl

RECORD = "memory.jsonl"
SHARE_STEP, LEAST_SHARE = 0.1, 0.3
"""vLLM gives up this share of a GPU at a time, down to the least with which it has cache to work in."""
OUT_OF_MEMORY = re.compile(r"OutOfMemoryError|CUDA out of memory|No available memory for the cache blocks|CUBLAS_STATUS_ALLOC_FAILED")


def rung(folder: Path) -> int:
    """How often a run has been out of GPU memory."""
    record = folder / RECORD
    return sum(1 for _ in read_jsonl(record)) if record.exists() else 0


def smaller_training(training: Training, rung: int) -> Training:
    """The settings with the micro-batch halved ``rung`` times."""
    return training.model_copy(update={"micro_batch": max(1, training.micro_batch >> rung)})


def smaller_hardware(hardware: Hardware, rung: int, longest: int) -> Hardware:
    """Micro-batch and packed tokens halved ``rung`` times, tokens down to ``longest`` (one whole sequence); less for vLLM each time."""
    changes = {
        "micro_batch": max(1, hardware.micro_batch >> rung),
        "tokens_per_gpu": max(min(longest, hardware.tokens_per_gpu), hardware.tokens_per_gpu >> rung),
        "memory_share": max(min(LEAST_SHARE, hardware.memory_share), round(hardware.memory_share - SHARE_STEP * rung, 2)),
    }
    return hardware.model_copy(update=changes)


@contextmanager
def recorded(folder: Path, tried: Mapping[str, object], log: Path | None = None) -> Iterator[None]:
    """Note in ``folder`` when the block ends because a GPU ran out of memory; ``tried``: with what it did.

    The signs are looked for in the error, and in what the block wrote to ``log``. The error goes on in any case.
    """
    begun = log.stat().st_size if log is not None and log.exists() else 0
    try:
        yield
    except RuntimeError as error:
        sign = OUT_OF_MEMORY.search(f"{type(error).__name__}: {error}\n{_after(log, begun)}")
        if sign is not None:
            rows = list(read_jsonl(folder / RECORD)) if (folder / RECORD).exists() else []
            write_jsonl(folder / RECORD, [*rows, {"sign": sign[0], "tried": dict(tried)}])
        raise


def _after(log: Path | None, begun: int) -> str:
    if log is None or not log.exists():
        return ""
    with open(log, "rb") as handle:
        handle.seek(begun)
        return handle.read().decode(errors="replace")
