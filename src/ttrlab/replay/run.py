"""A whole pool through all streams: batch by batch, on several cores, going on where an interrupted run stopped."""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context

from ttrlab.grading import use_cache
from ttrlab.pools import PoolRow
from ttrlab.replay.deciding import Replayer
from ttrlab.replay.progress import Stream

SAVE_SECONDS = 5.0
"""How much work a kill can cost, in seconds."""

Lines = dict[str, list[str]]
Job = tuple[list[PoolRow], frozenset[str]]


def run(batched: Iterator[list[PoolRow]], streams: Sequence[Stream], replayer: Replayer, jobs: int, note: Callable[[int], object]) -> int:
    """Decide every batch for every stream that does not have it yet, and finish the streams; the number of batches.

    ``note`` is called with the number of groups of each batch that is behind. A fault closes the streams with what they have.
    """
    try:
        saved = time.monotonic()
        counts: deque[int] = deque()
        for made in _results(_open_jobs(batched, streams, counts), replayer, jobs):
            for stream in streams:
                if stream.name in made:
                    stream.add(made[stream.name])
            note(counts.popleft())
            if time.monotonic() - saved > SAVE_SECONDS:
                for stream in _open(streams):
                    stream.save()
                saved = time.monotonic()
        for stream in _open(streams):
            stream.finish()
    finally:
        for stream in streams:
            stream.close()
    return max(stream.done for stream in streams)


def _open(streams: Sequence[Stream]) -> list[Stream]:
    return [stream for stream in streams if not stream.finished]


def _open_jobs(batched: Iterator[list[PoolRow]], streams: Sequence[Stream], counts: deque[int]) -> Iterator[Job]:
    """Each batch with the streams that lack it."""
    done = {stream.name: stream.done for stream in streams if not stream.finished}
    for number, rows in enumerate(batched if done else ()):
        counts.append(len(rows))
        yield rows, frozenset(name for name, behind in done.items() if behind <= number)


def _results(jobs: Iterator[Job], replayer: Replayer, workers: int) -> Iterator[Lines]:
    """The lines of each job, in order; at most two jobs a worker are under way, so memory does not grow with the pool."""
    if workers == 1:
        yield from (replayer.lines(*job) if job[1] else {} for job in jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(replayer,)) as pool:
        waiting: deque[Future[Lines]] = deque(pool.submit(_work, *job) for job in islice(jobs, 2 * workers))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(_work, *job) for job in islice(jobs, 1))


_replayer: list[Replayer] = []
"""What a worker process decides with; one entry after its start."""


def _begin(replayer: Replayer) -> None:
    _replayer[:] = [replayer]
    use_cache(replayer.proofs)


def _work(rows: Sequence[PoolRow], streams: Collection[str]) -> Lines:
    return _replayer[0].lines(rows, streams) if streams else {}
