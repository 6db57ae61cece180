"""Which questions each step sees. A pure function of rows, settings and seed, so that planning and running agree."""

from ttrlab.config.settings import Training
from ttrlab.seeds import rng


def steps_per_episode(rows: int, training: Training) -> int:
    """Batches in one pass over ``rows`` questions: the last one may be short, is dropped, or is filled up (``last_batch``)."""
    whole, rest = divmod(rows, training.batch)
    return whole + (rest > 0 and training.last_batch != "drop")


def total_steps(rows: int, training: Training) -> int:
    """Steps of a whole adaptation: ``updates`` where given, otherwise ``episodes`` passes."""
    return training.updates or training.episodes * steps_per_episode(rows, training)


def total_updates(rows: int, training: Training) -> int:
    """Optimiser updates of a whole adaptation; the learning-rate schedule runs over them."""
    mini_batch = training.mini_batch or training.batch
    whole, rest = divmod(rows, training.batch)
    last = {"short": rest, "drop": 0, "wrap": training.batch if rest else 0}[training.last_batch]
    sizes = [training.batch] * whole + ([last] if last else [])
    updates = [training.epochs * -(-size // mini_batch) for size in sizes]
    episodes, partial = divmod(total_steps(rows, training), len(updates))
    return episodes * sum(updates) + sum(updates[:partial])


def batch(rows: int, training: Training, seed: int, step: int) -> tuple[int, ...]:
    """Row indices of step ``step`` (1-based). Every episode is a fresh seeded permutation; ``wrap`` fills the last batch with the
    first rows of its own permutation."""
    episode, position = divmod(step - 1, steps_per_episode(rows, training))
    order = rng(seed, "order", episode).permutation(rows)
    chosen = order[position * training.batch : (position + 1) * training.batch].tolist()
    missing = training.batch - len(chosen)
    if missing and training.last_batch == "wrap":
        chosen += [int(order[i % rows]) for i in range(missing)]
    return tuple(chosen)


def checkpoint_steps(rows: int, training: Training) -> tuple[int, ...]:
    """Steps after which a checkpoint is kept: every ``checkpoint_every``-th, and the last, which is the endpoint."""
    last = total_steps(rows, training)
    return tuple(sorted({*range(training.checkpoint_every, last + 1, training.checkpoint_every), last}))
