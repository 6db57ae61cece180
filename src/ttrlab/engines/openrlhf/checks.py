"""What OpenRLHF cannot do of a spec, or would do in silence otherwise: refused before a GPU is asked for."""

from collections.abc import Iterable

from ttrlab.config.hardware import Hardware
from ttrlab.config.settings import Training
from ttrlab.config.specs import AdaptSpec

AGGREGATIONS = ("token-mean", "seq-mean-token-mean")
CALLS_PER_ENGINE = 1000
"""Ray's default limit of concurrent calls to one vLLM worker. A step's questions meet before any is decided, so all must fit."""


def check_spec(spec: AdaptSpec) -> None:
    """ValueError with what was given, what is possible and the nearest valid values; needs no hardware."""
    training, rest = spec.training, spec.rows % spec.training.batch
    if rest and training.last_batch == "short":
        raise ValueError(
            f"training.last_batch=short: {spec.rows} rows in batches of {training.batch} leave a last batch of {rest}, and OpenRLHF makes"
            f" no update from fewer roll-outs than train.batch_size={(training.mini_batch or training.batch) * training.train};"
            f" use last_batch: drop or wrap, or a batch of {' or '.join(map(str, nearest(divisors(spec.rows), training.batch)))}"
        )
    if training.dtype != "bfloat16":
        raise ValueError(f"training.dtype={training.dtype}: OpenRLHF trains in bfloat16 with float32 master weights; use dtype: bfloat16")
    if training.aggregation not in AGGREGATIONS:
        raise ValueError(f"training.aggregation={training.aggregation}: OpenRLHF has {' and '.join(AGGREGATIONS)}")
    if training.lora is not None:
        raise ValueError(
            "training.lora: OpenRLHF's stock broadcast sends adapter names that vLLM refuses; use full parameters, or engine: torch"
        )
    if spec.sampling.temperature <= 0:
        raise ValueError(f"sampling.temperature={spec.sampling.temperature}: roll-outs that are trained on need one above 0")
    if spec.judge is not None and spec.judge.home.home == "process":
        raise ValueError("judge.home=process: a vLLM worker of OpenRLHF serves the policy alone; use home: server (or stored)")


def check_hardware(training: Training, hardware: Hardware) -> None:
    """ValueError where roll-outs do not divide over the GPUs, with the nearest valid values: ranks of unequal work wait for ever."""
    world, mini = hardware.world, (training.mini_batch or training.batch) * training.train
    if training.batch > CALLS_PER_ENGINE * hardware.engines:
        raise ValueError(f"training.batch={training.batch}: {hardware.engines} vLLM engines take at most {CALLS_PER_ENGINE} questions each")
    if mini % world:
        raise ValueError(
            f"hardware: a mini-batch of {mini} roll-outs (mini_batch x train) does not divide over {world} GPUs;"
            f" use {' or '.join(map(str, nearest(divisors(mini), world)))} GPUs"
        )
    if not hardware.packing and (mini // world) % hardware.micro_batch:
        raise ValueError(
            f"hardware.micro_batch={hardware.micro_batch}: a mini-batch of {mini} roll-outs is {mini // world} a GPU, no whole number of"
            f" micro-batches; use micro_batch {' or '.join(map(str, nearest(divisors(mini // world), hardware.micro_batch)))}"
        )
    if hardware.packing and not hardware.attention.startswith(("flash_attention", "kernels-community")):
        raise ValueError(f"hardware.packing needs a flash attention, got attention={hardware.attention}; use packing=false")


def divisors(number: int) -> list[int]:
    """All divisors of a positive whole number, ascending."""
    return [d for d in range(1, number + 1) if number % d == 0]


def nearest(values: Iterable[int], wanted: int) -> list[int]:
    """The largest of ``values`` at most ``wanted`` and the smallest above it, where they are."""
    found = sorted(values)
    return [*[v for v in found if v <= wanted][-1:], *[v for v in found if v > wanted][:1]]
