"""Tiny random models of the kinds that the engine serves, with a word-level tokenizer of digits and letters."""

from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

VOCABULARY = ["<s>", "</s>", "\\boxed{", "\n\n", *"0123456789+=-*/ }abcdefghijklmnopqrstuvwxyz"]
KINDS = ("llama", "qwen2", "qwen3", "mistral")


def tokenizer():
    inner = Tokenizer(WordLevel({token: i for i, token in enumerate(VOCABULARY)}, unk_token="<s>"))
    inner.pre_tokenizer = Split(Regex(r"\\boxed\{|\n\n|[\s\S]"), "isolated")
    inner.decoder = Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", eos_token="</s>", pad_token="</s>")


def save_model(folder: Path, kind: str = "llama", seed: int = 0, **changes) -> str:
    torch.manual_seed(seed)
    sizes = {
        "vocab_size": len(VOCABULARY), "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 128, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1,
        "initializer_range": 0.3,
    }  # fmt: skip
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **{**sizes, **changes}))
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return str(folder)
