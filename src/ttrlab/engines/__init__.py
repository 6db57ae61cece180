"""Engines by name. Loading one imports torch, vLLM or Ray; asking what it gives does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from ttrlab.config.catalogue import AnswerKind, PromptStyle
from ttrlab.config.settings import Training
from ttrlab.engines.base import TOKEN_STATS, Policy, Sampler
from ttrlab.engines.prompts import Prompter

__all__ = ["ENGINES", "Accelerator", "EngineInfo", "accelerators", "import_engine", "open_policy", "open_prompter", "open_sampler"]


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What an engine attaches to roll-outs beside log-probs, and whether it trains in this process."""

    token_stats: frozenset[str]
    trains: bool


ENGINES: Mapping[str, EngineInfo] = MappingProxyType(
    {
        "torch": EngineInfo(frozenset(TOKEN_STATS), trains=True),
        "vllm": EngineInfo(frozenset({"topk_confidence"}), trains=True),
        "openrlhf": EngineInfo(frozenset({"topk_confidence"}), trains=True),
    }
)


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A CUDA device of this machine. ``total``, ``free``: bytes of its memory."""

    name: str
    total: int
    free: int


def accelerators() -> tuple[str | None, list[Accelerator]]:
    """The CUDA version that torch is built for (None: the CPU alone), and the devices that it sees."""
    import torch

    found = []
    for number in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(number)
        found.append(Accelerator(torch.cuda.get_device_name(number), total, free))
    return torch.version.cuda, found


def open_prompter(model: str, revision: str | None, prompt: PromptStyle, kind: AnswerKind) -> Prompter:
    """A model's prompts without its weights: what counts a prompt's tokens before anything is sampled."""
    from transformers import AutoTokenizer

    where: dict[str, str] = {"revision": revision} if revision else {}
    return Prompter(AutoTokenizer.from_pretrained(model, **where), prompt, kind)


def open_policy(
    engine: str,
    model: str,
    revision: str | None,
    prompt: PromptStyle,
    kind: AnswerKind,
    training: Training,
    updates: int,
    seed: int,
    reference: tuple[str, str | None] | None = None,
) -> Policy:
    """A policy that samples and trains, by torch alone or sampling by vLLM.

    ``model``: folder or hub id; ``updates``: length of the learning-rate schedule; ``reference``: model and revision of the KL term,
    where that is not ``model``.

    ValueError for an engine that does not train in this process.
    """
    if engine not in ("torch", "vllm"):
        raise ValueError(f"engine {engine!r} does not adapt in this process; torch and vllm do, on the CPU or one GPU")
    from ttrlab.engines.torch_policy import TorchPolicy

    policy = TorchPolicy(model, revision, prompt, kind, seed=seed, training=training, updates=updates, reference=reference)
    if engine == "torch":
        return policy
    from ttrlab.engines.vllm import VllmPolicy

    return VllmPolicy(policy, model, revision, prompt, kind)


def open_sampler(engine: str, model: str, revision: str | None, prompt: PromptStyle, kind: AnswerKind) -> Sampler:
    """A sampler, for evaluation and for source data."""
    if engine == "vllm":
        from ttrlab.engines.vllm import VllmSampler

        return VllmSampler(model, revision, prompt, kind)
    if engine != "torch":
        raise ValueError(f"engine {engine!r} has no sampler of its own; evaluation takes torch or vllm")
    from ttrlab.engines.torch_policy import TorchPolicy

    return TorchPolicy(model, revision, prompt, kind)


def import_engine(engine: str) -> list[str]:
    """Import an engine's libraries, which takes seconds, and name the CUDA devices that this process sees; none on the CPU.

    An engine that does not run in this process imports nothing and has no devices here. ValueError where vLLM is not installed.
    """
    if engine == "vllm" and find_spec("vllm") is None:
        raise ValueError("engine 'vllm': the package vllm is not installed in this environment (docs/engine.md says how it is)")
    module = {"torch": "ttrlab.engines.torch_policy", "vllm": "ttrlab.engines.vllm"}.get(engine)
    if module is None:
        return []
    import_module(module)
    import torch

    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
