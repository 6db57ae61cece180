"""A quantised GGUF file becomes a folder that samples and trains in float32; a file with another hash becomes nothing."""

import sys

import gguf
import numpy as np
import pytest
import torch

from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.settings import Sampling, Training
from ttrlab.engines.base import TrainingGroup
from ttrlab.engines.gguf import convert
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.files import HASHES, sha256
from ttrlab.stages import convert as stage
from ttrlab.types import Question

WIDTH, HEADS, INNER = 64, 2, 64
TOKENS = ["<unk>", "<s>", "</s>", *"0123456789+=?", "Ġ", "10"]


@pytest.fixture
def quantised(tmp_path):
    """A llama of one layer whose matrices are quantised to eight bits, in one GGUF file."""
    path = tmp_path / "source" / "tiny.gguf"
    path.parent.mkdir()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, 3, 3] + [1] * (len(TOKENS) - 3))
    writer.add_token_merges(["1 0"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    draws = np.random.default_rng(0)
    for name, shape in {
        "token_embd": (len(TOKENS), WIDTH),
        "blk.0.attn_q": (WIDTH, WIDTH),
        "blk.0.attn_k": (WIDTH, WIDTH),
        "blk.0.attn_v": (WIDTH, WIDTH),
        "blk.0.attn_output": (WIDTH, WIDTH),
        "blk.0.ffn_gate": (INNER, WIDTH),
        "blk.0.ffn_up": (INNER, WIDTH),
        "blk.0.ffn_down": (WIDTH, INNER),
    }.items():
        values = draws.normal(size=shape).astype(np.float32)
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(f"{name}.weight", gguf.quantize(values, kind), raw_dtype=kind)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_converted_model_holds_the_de_quantised_weights_and_trains(quantised, tmp_path):
    convert(quantised, tmp_path / "model")
    training = Training(votes=2, train=2, batch=1, updates=1, kl_coefficient=0, learning_rate=1e-3)
    policy = TorchPolicy(str(tmp_path / "model"), None, PromptStyle(template="plain"), "integer", training=training, updates=1)
    tensor = next(one for one in gguf.GGUFReader(quantised).tensors if one.name == "token_embd.weight")
    before = policy.model.get_input_embeddings().weight.detach().clone()
    np.testing.assert_array_equal(before.numpy(), gguf.dequantize(tensor.data, tensor.tensor_type))
    question = Question("a", "1+2=?")
    rollouts = policy.sample([question], 2, Sampling(max_new_tokens=4), [0], frozenset())[0]
    policy.update([TrainingGroup(question, rollouts, np.array([1.0, -1.0]))], 1.0)
    assert not torch.equal(before, policy.model.get_input_embeddings().weight)


def call(monkeypatch, source, out, weights, *, gguf_hash=None):
    options = {"--gguf": source, "--gguf-sha256": gguf_hash or sha256(source), "--weights-sha256": weights, "--out": out}
    monkeypatch.setattr(sys, "argv", ["convert", *(str(text) for pair in options.items() for text in pair)])
    stage.main()


def test_the_stage_writes_the_same_weights_twice_and_records_their_hashes(quantised, tmp_path, monkeypatch):
    convert(quantised, tmp_path / "model")
    expected = sha256(tmp_path / "model" / "model.safetensors")
    call(monkeypatch, quantised, tmp_path / "out", expected)
    assert (tmp_path / "out" / HASHES).is_file()
    assert sha256(tmp_path / "out" / "model.safetensors") == expected


def test_another_file_than_the_expected_one_is_refused_before_it_is_read(quantised, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="tiny.gguf: SHA-256 is [0-9a-f]{64}, expected abc"):
        call(monkeypatch, quantised, tmp_path / "out", "", gguf_hash="abc")


def test_other_weights_than_the_expected_ones_leave_nothing(quantised, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="model.safetensors: SHA-256 is"):
        call(monkeypatch, quantised, tmp_path / "out", "abc")
    assert not (tmp_path / "out").exists()
