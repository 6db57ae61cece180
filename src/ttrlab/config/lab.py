"""Configuration of the lab: a small world of arithmetic with planted, systematic errors, and tiny models pre-trained in it."""

from typing import Literal

from pydantic import Field

from ttrlab.config.settings import Frozen


class LabModel(Frozen):
    """A tiny transformer, pre-trained by the ``pretrain`` stage on the lab's corpus."""

    source: Literal["lab"] = "lab"
    architecture: Literal["llama", "qwen2"] = "llama"
    seed: int = Field(0, ge=0)


class LabBenchmark(Frozen):
    """Questions generated from the lab's world: ``mix`` counts questions per regime."""

    source: Literal["lab"] = "lab"
    mix: dict[str, int]
    seed: int = Field(0, ge=0)
