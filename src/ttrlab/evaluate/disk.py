"""What a study leaves on disk, and what it needs beside that while it runs."""

from collections.abc import Iterator

from ttrlab.adapt.schedule import checkpoint_steps
from ttrlab.config.study import Cell, Plan
from ttrlab.evaluate.cost import CostModel
from ttrlab.evaluate.workload import BYTES, cell_work
from ttrlab.types import FloatArray

STATES = 2
"""Newest states that a running adaptation keeps."""
MOMENTS = 8
"""Bytes a parameter of the optimiser's two float32 moments."""


def kept_bytes(plan: Plan, model: CostModel) -> FloatArray:
    """(DRAWS,) bytes that stay: checkpoints of every adaptation, and compressed roll-outs."""
    checkpoints = sum(_checkpoint_bytes(plan, cell, model) for cell in _adapted(plan))
    sampled = [work for cell in plan.cells for work in cell_work(plan, cell, model.parameters[cell.model]) if work.unit == "tokens"]
    tokens = sum(work.amount * work.longest * model.number("length_share", work) for work in sampled)
    return checkpoints + tokens * model.number("stored_bytes_per_token", sampled[0])


def running_bytes(plan: Plan, model: CostModel) -> float:
    """Bytes that one running adaptation needs beside: its newest states, and one half written; the largest of the study."""
    widths = [BYTES[plan.training(cell).dtype] + MOMENTS for cell in _adapted(plan)]
    sizes = [width * model.parameters[cell.model] for width, cell in zip(widths, _adapted(plan), strict=True)]
    return (STATES + 1) * max(sizes, default=0.0)


def _adapted(plan: Plan) -> Iterator[Cell]:
    return (cell for cell in plan.cells if plan.method(cell).reward is not None)


def _checkpoint_bytes(plan: Plan, cell: Cell, model: CostModel) -> float:
    training = plan.training(cell)
    return len(checkpoint_steps(plan.benchmark(cell).rows, training)) * BYTES[training.dtype] * model.parameters[cell.model]
