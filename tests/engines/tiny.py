"""Tiny random models of the kinds that the engine serves, with a word-level tokenizer of digits and letters."""

from pathlib import Path

import numpy as np
import torch
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.settings import Sampling, Training
from ttrlab.engines.base import TOKEN_STATS, TrainingGroup
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.types import Question

VOCABULARY = ["<s>", "</s>", "\\boxed{", "\n\n", *"0123456789+=-*/ }abcdefghijklmnopqrstuvwxyz"]
KINDS = ("llama", "qwen2", "qwen3", "mistral")
PLAIN = PromptStyle(template="plain", where="none")
SAMPLING = Sampling(max_new_tokens=12, max_prompt_tokens=32)
QUESTIONS = [Question("a", "1+1="), Question("b", "12+30="), Question("c", "2+1=")]
STATS = frozenset(TOKEN_STATS)


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


def training(**settings):
    return Training.model_validate({"votes": 4, "train": 4, "batch": 3, "learning_rate": 1e-3, "kl_coefficient": 0.0, **settings})


def policy(folder, **settings):
    return TorchPolicy(folder, None, PLAIN, "integer", training=training(**settings), updates=8)


def groups_of(engine, seed=0, temperature=1.0):
    sampling = SAMPLING.model_copy(update={"temperature": temperature})
    sampled = engine.sample(QUESTIONS, 4, sampling, [seed, seed + 1, seed + 2], STATS)
    advantages = np.array([1.5, -0.5, 0.0, -1.0])
    return [TrainingGroup(q, rollouts, advantages) for q, rollouts in zip(QUESTIONS, sampled, strict=True)]


def weights(engine):
    return torch.cat([parameter.detach().flatten() for parameter in engine.model.parameters()])
