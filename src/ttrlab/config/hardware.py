"""What a cluster run gets of a machine. Resources only: nothing here changes a gradient, so nothing here is part of a spec."""

from typing import Literal

from pydantic import Field, ValidationError

from ttrlab.config.catalogue import explain
from ttrlab.config.settings import Frozen


class Hardware(Frozen):
    """GPUs of one OpenRLHF run and how they are shared.

    ``gpus``: of each of ``nodes``. ``colocate``: policy, reference and vLLM take turns on the same GPUs, asleep in between; without it
    each of the three has ``nodes * gpus`` of its own. ``tensor_parallel``: GPUs of one vLLM engine. ``micro_batch``: sequences of one
    forward pass on one GPU; ``packing`` (needs flash attention) fills ``tokens_per_gpu`` tokens with sequences instead.
    ``memory_share``: vLLM's share of a GPU. ``patience``: seconds that a phase of a step may last before the run stops with its name.
    """

    nodes: int = Field(1, ge=1)
    gpus: int = Field(8, ge=1)
    colocate: bool = True
    tensor_parallel: int = Field(1, ge=1)
    micro_batch: int = Field(8, ge=1)
    packing: bool = True
    tokens_per_gpu: int = Field(16384, ge=1)
    memory_share: float = Field(0.6, gt=0, lt=1)
    zero_stage: Literal[1, 2, 3] = 2
    offload: bool = False
    checkpointing: bool = True
    attention: str = "flash_attention_2"
    sync_backend: Literal["nccl", "gloo"] = "nccl"
    patience: float = Field(7200, gt=0)

    @property
    def world(self) -> int:
        """GPUs that train, which is the data-parallel size."""
        return self.nodes * self.gpus

    @property
    def engines(self) -> int:
        """vLLM engines; ValueError when the GPUs do not divide into them."""
        if self.world % self.tensor_parallel:
            raise ValueError(f"hardware: {self.world} GPUs do not divide into vLLM engines of tensor_parallel={self.tensor_parallel}")
        return self.world // self.tensor_parallel


def read_hardware(text: str) -> Hardware:
    """``nodes=2,gpus=8,micro_batch=4`` as a Hardware, defaults elsewhere; ValueError names the key that is wrong."""
    pairs = [part.partition("=") for part in text.split(",") if part]
    wrong = [key for key, sign, _ in pairs if not sign]
    if wrong:
        raise ValueError(f"hardware: expected key=value, got {wrong[0]!r}")
    try:
        return Hardware.model_validate_strings({key.strip(): value.strip() for key, _, value in pairs})
    except ValidationError as error:
        raise ValueError(explain(error, "hardware")) from None
