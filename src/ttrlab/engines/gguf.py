"""From a quantised GGUF file to a Hugging Face folder in float32."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def convert(source: Path, target: Path) -> None:
    """Write model and tokenizer of the GGUF file ``source`` into the folder ``target``, de-quantised.

    transformers marks such a model as quantised and would write it with that mark, which keeps it from being trained; the marks are
    removed. ``save_original_format``: names and shapes of the tensors stay transformers' own.
    """
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    model: Any = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    model.hf_quantizer = None
    for owner, mark in ((model, "is_quantized"), (model, "quantization_method"), (model.config, "quantization_config")):
        vars(owner).pop(mark, None)
    model.save_pretrained(target, save_original_format=False)
    tokenizer.save_pretrained(target)
