"""What jobs ask of a SLURM cluster: read from ``profiles/slurm/cluster.yaml``, by the model's size and the rule."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from ttrlab.config.catalogue import explain, read_yaml
from ttrlab.config.settings import Frozen
from ttrlab.config.specs import Engine

Work = Literal["adapt", "evaluate", "other"]


class Need(Frozen):
    """Of one job at its first attempt. ``cpus`` and ``memory_mb``: on each node; ``gpus``: altogether."""

    gpus: int = Field(ge=0)
    cpus: int = Field(ge=1)
    memory_mb: int = Field(ge=500)
    minutes: int = Field(ge=1)


class Size(Frozen):
    """What models of up to ``billions`` of parameters need."""

    billions: float = Field(gt=0)
    adapt: Need
    evaluate: Need


class Partitions(Frozen):
    """Partitions of jobs without and with GPUs; None: the cluster's default."""

    cpu: str | None
    gpu: str | None


class Limits(Frozen):
    """The most that a job may ask of the partitions, by node; None: no limit."""

    minutes: int | None = Field(ge=1)
    memory_mb: int | None = Field(ge=500)

    def minutes_of(self, need: Need, attempt: int) -> int:
        """A need's minutes at an attempt."""
        return min(need.minutes * attempt, self.minutes or need.minutes * attempt)

    def memory_of(self, need: Need, attempt: int) -> int:
        """A need's host memory at an attempt, in megabytes."""
        return min(need.memory_mb * attempt, self.memory_mb or need.memory_mb * attempt)


class Cluster(Frozen):
    """See ``profiles/slurm/cluster.yaml``."""

    account: str | None
    partitions: Partitions
    limits: Limits
    gpu_model: str | None
    gpus_per_node: int = Field(ge=1)
    unstated: float = Field(gt=0)
    other: Need
    sizes: tuple[Size, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _fits(self) -> "Cluster":
        limits = [size.billions for size in self.sizes]
        if limits != sorted(set(limits)):
            raise ValueError(f"sizes: billions must grow from row to row, got {limits}")
        for need in (self.other, *(need for size in self.sizes for need in (size.adapt, size.evaluate))):
            if self.limits.minutes_of(need, 1) < need.minutes or self.limits.memory_of(need, 1) < need.memory_mb:
                raise ValueError(f"limits: {need.minutes} minutes and {need.memory_mb} MB are asked for, more than {self.limits}")
        for size in self.sizes:
            for gpus in (size.adapt.gpus, size.evaluate.gpus):
                if gpus > self.gpus_per_node and gpus % self.gpus_per_node:
                    raise ValueError(f"sizes: {gpus} GPUs are no whole number of nodes of {self.gpus_per_node} (gpus_per_node)")
            if size.evaluate.gpus > self.gpus_per_node:
                raise ValueError(f"sizes: an evaluation runs on one node, {size.evaluate.gpus} GPUs are more than {self.gpus_per_node}")
        return self

    def need(self, work: Work, engine: Engine, parameters: int | None) -> Need:
        """What a job needs for a model of so many parameters; ValueError when the model is larger than every row."""
        if work == "other":
            return self.other
        billions = self.unstated if parameters is None else parameters / 1e9
        for size in self.sizes:
            if billions <= size.billions:
                found = size.adapt if work == "adapt" else size.evaluate
                return found.model_copy(update={"gpus": min(found.gpus, 1)}) if engine == "torch" else found
        raise ValueError(f"sizes: no row for a model of {billions:g} billion parameters; the largest says {self.sizes[-1].billions:g}")

    def resources(self, need: Need, attempt: int) -> dict[str, int | str]:
        """A need as the SLURM executor's resources. What is not asked for is 0 or empty, which the executor takes for absent.

        A job on several nodes is given whole ones: GPUs are asked for by node, and its command starts what runs on the others.
        ``hardware`` is for the command, not for SLURM: see ``ttrlab.config.hardware``.
        """
        nodes = max(1, need.gpus // self.gpus_per_node)
        model = self.gpu_model or ""
        per_node = f"gpu:{model}:{self.gpus_per_node}" if model else f"gpu:{self.gpus_per_node}"
        return {
            "gpu": need.gpus if nodes == 1 else 0,
            "gpu_model": model if nodes == 1 and need.gpus else "",
            "gres": per_node if nodes > 1 else "",
            "tasks_per_gpu": 0,
            "nodes": nodes,
            "hardware": f"nodes={nodes},gpus={min(need.gpus, self.gpus_per_node)}" if need.gpus else "",
            "cpus_per_task": need.cpus,
            "mem_mb": self.limits.memory_of(need, attempt),
            "runtime": self.limits.minutes_of(need, attempt),
            "slurm_account": self.account or os.environ.get("SBATCH_ACCOUNT", ""),
            "slurm_partition": self.partition(need),
        }

    def partition(self, need: Need) -> str:
        """Where such a job goes; empty for the cluster's default partition."""
        return (self.partitions.gpu if need.gpus else self.partitions.cpu) or ""


RESOURCES = tuple("gpu gpu_model gres tasks_per_gpu nodes hardware cpus_per_task mem_mb runtime slurm_account slurm_partition".split())
"""The resources that ``Cluster.resources`` gives."""


def read_cluster(path: Path) -> Cluster:
    """The cluster's table; ValueError names file, key and what was given."""
    try:
        return Cluster.model_validate(read_yaml(path))
    except ValidationError as error:
        raise ValueError(explain(error, str(path))) from None
