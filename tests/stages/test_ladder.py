import sys

import pytest
import torch

from tests.stages.test_adapt_stage import SPEC, command, world  # noqa: F401 (a fixture)
from ttrlab.config.hardware import Hardware
from ttrlab.engines.openrlhf.command import RunFiles
from ttrlab.engines.openrlhf.command import command as openrlhf_command
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.files import read_jsonl
from ttrlab.stages import adapt, ladder

SHORT = SPEC.model_copy(update={"training": SPEC.training.model_copy(update={"episodes": 2, "micro_batch": 4})})


@pytest.fixture
def stage(world, monkeypatch):  # noqa: F811
    def run(out):
        monkeypatch.setattr(sys, "argv", ["adapt", *command(world, out, SHORT)[3:]])
        adapt.main()
        return [row["engine/grad_norm"] for row in read_jsonl(out / "steps.jsonl")]

    return run


def test_after_a_gpu_ran_out_of_memory_the_next_attempt_takes_less_at_a_time_and_learns_the_same(tmp_path, stage, monkeypatch):
    whole = stage(tmp_path / "whole")
    update = TorchPolicy.update

    def cramped(policy, groups, temperature):
        if policy.training.micro_batch > 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return update(policy, groups, temperature)

    monkeypatch.setattr(TorchPolicy, "update", cramped)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="CUDA out of memory"):
            stage(tmp_path / "cramped")
    learnt = stage(tmp_path / "cramped")
    assert [row["tried"] for row in read_jsonl(tmp_path / "cramped" / ladder.RECORD)] == [{"micro_batch": 4}, {"micro_batch": 2}]
    assert len(learnt) == 4
    assert learnt[0] == pytest.approx(whole[0], rel=1e-5)
    assert learnt == pytest.approx(whole, rel=1e-2)  # Adam turns float32 noise of one step into other weights in the next


def test_another_error_leaves_the_ladder_where_it_is(tmp_path):
    with pytest.raises(RuntimeError, match="no route"), ladder.recorded(tmp_path, {}):
        raise RuntimeError("no route to host")
    assert ladder.rung(tmp_path) == 0


def test_the_signs_are_looked_for_in_what_this_attempt_wrote_to_the_log(tmp_path):
    log = tmp_path / "openrlhf.log"
    log.write_text("torch.OutOfMemoryError: of an attempt before\n")
    with pytest.raises(RuntimeError), ladder.recorded(tmp_path, {"micro_batch": 8}, log):
        raise RuntimeError("exit code 1")
    assert ladder.rung(tmp_path) == 0
    with pytest.raises(RuntimeError), ladder.recorded(tmp_path, {"micro_batch": 8}, log):
        with open(log, "a") as handle:
            handle.write("ValueError: No available memory for the cache blocks.\n")
        raise RuntimeError("exit code 1")
    assert list(read_jsonl(tmp_path / ladder.RECORD)) == [{"sign": "No available memory for the cache blocks", "tried": {"micro_batch": 8}}]


def test_hardware_gets_smaller_by_rungs_down_to_one_sequence_and_a_least_share_for_vllm():
    hardware = Hardware(micro_batch=8, tokens_per_gpu=16384, memory_share=0.6)
    seen = [ladder.smaller_hardware(hardware, rung, 4096) for rung in range(5)]
    assert [(one.micro_batch, one.tokens_per_gpu, one.memory_share) for one in seen] == [
        (8, 16384, 0.6), (4, 8192, 0.5), (2, 4096, 0.4), (1, 4096, 0.3), (1, 4096, 0.3),
    ]  # fmt: skip


def test_a_descent_changes_no_flag_of_openrlhf_that_gradients_depend_on(tmp_path):
    spec = SPEC.model_copy(update={"training": SPEC.training.model_copy(update={"dtype": "bfloat16", "batch": 8, "train": 8, "votes": 8})})
    words = [
        openrlhf_command(spec, "model", ladder.smaller_hardware(Hardware(), rung, 2048), RunFiles(tmp_path), updates=40) for rung in (0, 1)
    ]
    changed = {words[0][at - 1] for at, (first, second) in enumerate(zip(*words, strict=True)) if first != second}
    assert changed == {
        "--rollout.micro_batch_size",
        "--train.micro_batch_size",
        "--train.max_tokens_per_gpu",
        "--vllm.gpu_memory_utilization",
    }
