"""The cost model: device seconds of a piece of work, as draws from stated assumptions (``config/cost.yaml``).

Sampling reads the weights and the cache once a token and multiplies twice a parameter (a roofline, of which an engine reaches a share);
training multiplies six times a parameter and token, and twice more for every further forward pass.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, ValidationError, model_validator

from ttrlab.config.catalogue import explain, read_yaml
from ttrlab.config.settings import Frozen
from ttrlab.evaluate.workload import Work
from ttrlab.seeds import rng
from ttrlab.types import FloatArray

DRAWS = 1000
Z90 = 1.2815515655446004
"""Standard normal quantile of 0.9."""
TRAINING_BYTES = 18
"""Bytes a parameter in full training: bf16 weights and gradients, float32 weights and two moments."""
FULL = 0.85
"""The share of a device's memory that is planned with."""
CACHE = 0.6
"""The share of it that the sampler may fill with weights and cache, as the cluster engine is started."""


CORPUS_TOKENS = 24
"""Tokens of a sequence in a lab model's pre-training."""


class Hardware(Frozen):
    """One device: dense peak in 1/s, bytes/s and bytes of memory."""

    kind: Literal["gpu", "cpu"]
    flops: float = Field(gt=0)
    bandwidth: float = Field(gt=0)
    memory: float = Field(gt=0)
    source: str


class Assumption(Frozen):
    """A number that is not known: [P10, P50, P90], drawn once ``per`` study, model, benchmark or method."""

    range: tuple[float, float, float]
    per: Literal["study", "model", "benchmark", "method"]
    source: str

    @model_validator(mode="after")
    def _growing(self) -> "Assumption":
        if not 0 < self.range[0] <= self.range[1] <= self.range[2]:
            raise ValueError(f"range: expected 0 < P10 <= P50 <= P90, got {list(self.range)}")
        return self


class Assumptions(Frozen):
    """The file ``cost.yaml``."""

    hardware: dict[str, Hardware]
    kv_bytes: dict[str, float]
    kv_bytes_per_parameter: float
    lab_parameters: dict[str, float]
    common: dict[str, Assumption]
    gpu: dict[str, Assumption]
    cpu: dict[str, Assumption]


def load_assumptions(path: Path) -> Assumptions:
    """Read ``cost.yaml``; ValueError names the file and the key of a fault."""
    try:
        return Assumptions.model_validate(read_yaml(path))
    except ValidationError as error:
        raise ValueError(explain(error, str(path))) from None


def draws(value: Assumption, name: str, key: str) -> FloatArray:
    """(DRAWS,) numbers whose P10, P50 and P90 are the assumption's: a log-normal with two widths. Equal names give equal draws."""
    low, middle, high = value.range
    z = rng(0, "price", name, key).standard_normal(DRAWS)
    width = np.where(z < 0, math.log(middle / low), math.log(high / middle)) / Z90
    return middle * np.exp(z * width)


@dataclass(frozen=True)
class CostModel:
    """Prices work on one kind of device. ``parameters``: of every model that the study names."""

    assumptions: Assumptions
    device: Hardware
    parameters: dict[str, float]

    @cached_property
    def _drawn(self) -> dict[tuple[str, str], FloatArray]:
        return {}

    def number(self, name: str, work: Work) -> FloatArray:
        """(DRAWS,) draws of an assumption for a piece of work: the same for all work that shares it."""
        own = self.assumptions.gpu if self.device.kind == "gpu" else self.assumptions.cpu
        value = {**self.assumptions.common, **own}[name]
        key = {"study": "", "model": work.model, "benchmark": work.benchmark, "method": work.method}[value.per]
        if (name, key) not in self._drawn:
            self._drawn[name, key] = draws(value, name, key)
        return self._drawn[name, key]

    def devices(self, work: Work) -> int:
        """Devices of a job: a power of two that holds the model, and its optimiser where it is trained; scoring holds none."""
        if self.device.kind == "cpu" or work.stage in ("score", "audit"):
            return 1
        width = TRAINING_BYTES if work.stage in ("adapt", "rectifier", "pretrain") else 2
        needed = width * self.parameters[work.model] / (FULL * self.device.memory)
        return 2 ** max(0, math.ceil(math.log2(needed)))

    def seconds(self, work: Work) -> FloatArray:
        """(DRAWS,) device seconds of a piece of work: wall-clock seconds times the devices that its job holds."""
        held = self.devices(work)
        number, parameters = self.number, self.parameters[work.model]
        match work.unit:
            case "job":
                return held * number("first_seconds" if work.phase == "first" else "start_seconds", work)
            case "open":
                return held * number("open_seconds", work)
            case "load":
                return held * work.amount / 1e9 * number("load_seconds_per_gb", work)
            case "bytes":
                return held * work.amount / 1e9 * number("write_seconds_per_gb", work)
            case "step":
                return held * work.amount * number("step_seconds", work)
            case "decided":
                return held * work.amount * number("decide_seconds", work)
            case "graded":
                return work.amount * number("grade_seconds", work)
            case "tokens":
                return work.amount * self._sampling(work, number("length_share", work) * work.longest)
            case "judged":
                asked = number("judged_share", work) if work.stage == "adapt" else number("expansion", work)
                return work.amount * asked * self._sampling(work, number("judgement_share", work) * work.longest)
            case "trained":
                return work.amount * self._active(work) * self._training(work)
            case "corpus":
                return work.amount * CORPUS_TOKENS * 6 * parameters / (self.device.flops * number("update_mfu", work))

    def _active(self, work: Work) -> FloatArray:
        share = self.number("active_share" if work.stage == "adapt" else "expansion", work)
        return np.minimum(share, 1.0) if work.stage == "adapt" else share

    def _training(self, work: Work) -> FloatArray:
        """(DRAWS,) device seconds of one trained sequence."""
        length = "length_share" if work.stage == "adapt" else "judgement_share"
        tokens = self.number(length, work) * work.longest + self.number("prompt_share", work) * work.prompt
        flops = (6 + 2 * work.passes) * self.parameters[work.model] * tokens
        return flops / (self.device.flops * self.number("update_mfu", work))

    def _sampling(self, work: Work, tokens: FloatArray) -> FloatArray:
        """(DRAWS,) device seconds of one roll-out of ``tokens`` new tokens; a group shares its prompt, which is left out."""
        weights = 2 * self.parameters[work.model]
        cache = self.assumptions.kv_bytes.get(work.model, self.assumptions.kv_bytes_per_parameter * self.parameters[work.model])
        held = self.devices(work)
        context = self.number("prompt_share", work) * work.prompt + tokens / 2
        room = np.maximum(CACHE * held * self.device.memory - weights, 0.05 * held * self.device.memory) / (cache * context)
        batch = np.clip(np.minimum(work.together, room), 1, None)
        a_token = (weights / batch + cache * context) / self.device.bandwidth + weights / self.device.flops
        return tokens * a_token / self.number("decode_efficiency", work)
