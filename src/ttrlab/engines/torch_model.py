"""What the one-machine engine asks of a Hugging Face model besides its forward pass: adapters, stop tokens, room, context."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from ttrlab.config.settings import Lora, Training
from ttrlab.types import Question

CPU_BYTES = 2 << 30
"""Memory on the CPU for keys, values and logits of the roll-outs that are sampled together."""
GPU_SHARE = 0.3
"""The same on a GPU, as a share of its memory."""
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def load_model(model: str, revision: str | None, training: Training | None) -> Any:
    """The model on the GPU where there is one, without dropout; in float32 unless ``training`` says otherwise."""
    where: dict[str, str] = {"revision": revision} if revision else {}
    dtype = DTYPES[training.dtype] if training else torch.float32
    loaded: Any = AutoModelForCausalLM.from_pretrained(model, dtype=dtype, **where)
    return loaded.to("cuda" if torch.cuda.is_available() else "cpu").eval()


def with_adapters(model: Any, lora: Lora) -> Any:
    """The model with low-rank adapters on all linear layers (LoRA, arXiv:2106.09685); their dropout is off, see ``dropout``."""
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=lora.rank, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules="all-linear", task_type="CAUSAL_LM")
    return get_peft_model(model, config).eval()


@contextmanager
def dropout(model: Any) -> Iterator[None]:
    """Adapters' dropout is on in the block: in passes with a gradient, never in sampling or in old and reference log-probs."""
    layers = [module for name, module in model.named_modules() if "lora_dropout" in name]
    for layer in layers:
        layer.train()
    try:
        yield
    finally:
        for layer in layers:
            layer.eval()


def stop_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Every token that ends a response: the tokenizer's and all that the generation config names; ValueError when there is none."""
    named = model.generation_config.eos_token_id if model.generation_config is not None else None
    listed = named if isinstance(named, list) else [named]
    stops = frozenset(token for token in [*listed, tokenizer.eos_token_id] if token is not None)
    if not stops:
        raise ValueError(f"{model.config.model_type} model: neither its generation config nor its tokenizer names a stop token")
    return stops


def together(model: Any, n: int, length: int) -> int:
    """How many questions may be sampled together: n roll-outs each, of ``length`` tokens with their prompt; at least one."""
    config, width = model.config, torch.finfo(model.dtype).bits // 8
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads  # GPT-NeoX and others never share keys and values
    kept = 2 * width * config.num_hidden_layers * heads * head * length
    logits = 8 * 4 * config.vocab_size  # the logits and what is computed from them in float32 and float64
    room = GPU_SHARE * torch.cuda.get_device_properties(model.device).total_memory if model.device.type == "cuda" else CPU_BYTES
    return max(1, int(room) // (n * (kept + logits)))


def check_context(model: Any, questions: Sequence[Question], prompts: Sequence[Sequence[int]], new: int) -> None:
    """ValueError names the first question whose prompt and ``new`` tokens exceed the positions that the model was made for."""
    positions = getattr(model.config, "max_position_embeddings", None) or sys.maxsize  # Bloom's positions have no end
    for question, prompt in zip(questions, prompts, strict=True):
        if len(prompt) + new > positions:
            raise ValueError(
                f"question {question.id!r}: {len(prompt)} prompt tokens and max_new_tokens {new} exceed the model's {positions} positions"
            )


def trained(model: Any) -> dict[str, Tensor]:
    """Name -> parameter that training changes."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
