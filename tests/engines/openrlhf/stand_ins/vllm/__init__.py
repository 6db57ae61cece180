"""Stands in for the part of vLLM that OpenRLHF 0.11.2 uses: an asynchronous engine that samples with transformers on the CPU."""

import asyncio
from dataclasses import dataclass

import cpu
import torch

cpu.apply()
__version__ = "0.29.0"  # what OpenRLHF's extra pins


@dataclass
class SamplingParams:
    """Those that OpenRLHF and the group agent set."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    max_tokens: int = 16
    min_tokens: int = 0
    skip_special_tokens: bool = True
    logprobs: int | None = None
    seed: int | None = None


@dataclass
class Logprob:
    """Of one token."""

    logprob: float


@dataclass
class CompletionOutput:
    """One sampled sequence."""

    token_ids: list
    text: str
    logprobs: list | None
    finish_reason: str


@dataclass
class RequestOutput:
    """What a request ends with."""

    outputs: list


class AsyncEngineArgs:
    """Whatever OpenRLHF passes."""

    def __init__(self, **settings):
        self.settings = settings


class OutputProcessor:
    """Counts unfinished requests."""

    unfinished = 0

    def get_num_unfinished_requests(self):
        """Of this engine."""
        return self.unfinished


class AsyncLLMEngine:
    """One model, one request at a time; ``seed`` decides a request's tokens, as in vLLM."""

    def __init__(self, settings):
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.settings, self.lock, self.output_processor = settings, asyncio.Lock(), OutputProcessor()
        self.model = AutoModelForCausalLM.from_pretrained(settings["model"], dtype=torch.bfloat16).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(settings["model"])

    @classmethod
    def from_engine_args(cls, arguments):
        """As vLLM builds it."""
        return cls(arguments.settings)

    async def is_sleeping(self):
        """Never."""
        return False

    async def reset_prefix_cache(self):
        """There is none."""

    async def collective_rpc(self, method, args=()):
        """The two calls by which new weights arrive."""
        if method == "init_process_group":
            from openrlhf.utils.distributed_util import stateless_init_process_group

            host, port, rank, world = args[:4]
            self.group = await asyncio.to_thread(stateless_init_process_group, host, port, rank, world, "cpu")
            return
        if method != "update_weight":
            raise NotImplementedError(method)
        name, dtype, shape, _ = args
        weight = torch.empty(shape, dtype=dtype)
        await asyncio.to_thread(self.group.broadcast, weight, 0)
        with torch.no_grad():
            dict(self.model.named_parameters())[name].copy_(weight)

    async def generate(self, prompt, params, request_id=None):
        """Yield the finished request."""
        self.output_processor.unfinished += 1
        try:
            async with self.lock:
                output = await asyncio.to_thread(self._sample, prompt["prompt_token_ids"], params)
        finally:
            self.output_processor.unfinished -= 1
        yield RequestOutput([output])

    @torch.inference_mode()
    def _sample(self, prompt, params):
        limit = self.settings.get("max_logprobs", 20)
        if params.logprobs is not None and params.logprobs > limit:
            raise ValueError(f"requested {params.logprobs} log-probs, the engine allows {limit}")
        generator = torch.Generator().manual_seed(params.seed % 2**63 if params.seed is not None else 0)
        current, cache, tokens, entries, reason = torch.tensor([prompt]), None, [], [], "length"
        for _ in range(params.max_tokens):
            output = self.model(current, past_key_values=cache, use_cache=True)
            cache, logits = output.past_key_values, output.logits[0, -1].float()
            token = int(torch.multinomial((logits / params.temperature).softmax(-1), 1, generator=generator))
            tokens.append(token)
            raw = logits.log_softmax(-1)
            best = raw.topk(min(params.logprobs or 1, len(raw)))
            entries.append(
                {int(one): Logprob(float(value)) for value, one in zip(*best, strict=True)} | {token: Logprob(float(raw[token]))}
            )
            if token == self.tokenizer.eos_token_id:
                reason = "stop"
                break
            current = torch.tensor([[token]])
        text = self.tokenizer.decode(tokens, skip_special_tokens=params.skip_special_tokens)
        return CompletionOutput(tokens, text, entries if params.logprobs is not None else None, reason)
