"""A model whose next token depends on the last one alone, by a table of ours: it answers in a box, judges in JSON, and can be trained."""

import re
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

WORDS = ["\\boxed{", "<judge>", '{"reason": "', " so correct", " so wrong", ", ", '", "score": ']
VOCABULARY = ["<s>", "</s>", *WORDS, *"0123456789+=: }abcdefghijklmnopqrstuvwxyz"]
ANSWERS, SCORES = "012", "3456789"
"""Digits that end a question's answer, and digits that end a score: the table tells them apart by nothing else."""

NEXT = {
    "=": ["\\boxed{"], "\\boxed{": list(ANSWERS), "}": ["</s>"],
    '{"reason": "': [" so correct", " so wrong"], " so correct": ['", "score": '], " so wrong": ['", "score": '],
    '", "score": ': list(SCORES), **{digit: ["}"] for digit in SCORES},
}  # fmt: skip
POLICY = {**NEXT, **{digit: ["}"] for digit in ANSWERS}}
JUDGE = {**NEXT, **{digit: ['{"reason": "'] for digit in ANSWERS}}


def save_bigram(folder: Path, table: dict[str, list[str]]) -> None:
    """A Llama whose layers add nothing: embeddings are one-hot and the output matrix is the table."""
    size = len(VOCABULARY) + len(VOCABULARY) % 2
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(VOCABULARY), hidden_size=size, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, head_dim=8, max_position_embeddings=256, bos_token_id=0, eos_token_id=1, pad_token_id=1,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.copy_(torch.eye(len(VOCABULARY), size))
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.lm_head.weight.zero_()
        for last, following in table.items():
            for token in following:
                model.lm_head.weight[VOCABULARY.index(token), VOCABULARY.index(last)] = 10 / size**0.5
    model.save_pretrained(folder)
    inner = Tokenizer(WordLevel({token: i for i, token in enumerate(VOCABULARY)}, unk_token="<s>"))
    inner.pre_tokenizer = Split(Regex("|".join([*map(re.escape, WORDS), r"[\s\S]"])), "isolated")
    inner.decoder = Fuse()
    PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", eos_token="</s>", pad_token="</s>").save_pretrained(folder)
