"""From a spec to OpenRLHF's command line, flag for flag; nothing here needs OpenRLHF."""

from pathlib import Path

import pytest

from tests.engines.openrlhf.specs import HARDWARE, spec
from ttrlab.config.hardware import Hardware, read_hardware
from ttrlab.config.settings import Lora, Sampling
from ttrlab.engines.openrlhf.checks import check_hardware, check_spec
from ttrlab.engines.openrlhf.command import RunFiles, command, save_every
from ttrlab.engines.openrlhf.inputs import write_agent, write_prompts
from ttrlab.files import read_jsonl
from ttrlab.types import Question

FILES = RunFiles(Path("/run/adapt"))


def flags(a_spec, hardware=HARDWARE, updates=100):
    words = command(a_spec, "model", hardware, FILES, updates)[3:]
    found, name = {}, ""
    for word in words:
        if word.startswith("--"):
            name = word[2:]
            found[name] = []
        else:
            found[name].append(word)
    return {name: " ".join(values) for name, values in found.items()}


def test_what_a_method_says_of_training_stands_in_the_command():
    found = flags(spec(betas=(0.8, 0.88), clip_high=0.28, dual_clip=None, kl_coefficient=0.01, kl_estimator="k2", epochs=2, mini_batch=1))
    assert found["actor.adam.betas"] == "0.8 0.88"
    assert found["actor.eps_clip_low_high"] == "0.2 0.28"
    assert "actor.dual_clip" not in found
    assert (found["algo.kl.init_coef"], found["algo.kl.estimator"]) == ("0.01", "k2")
    assert (found["train.max_epochs"], found["train.batch_size"], found["rollout.n_samples_per_prompt"]) == ("2", "4", "4")


def test_votes_beyond_the_trained_ones_are_not_openrlhfs_to_draw():
    found = flags(spec(votes=64, train=32))
    assert (found["rollout.n_samples_per_prompt"], found["train.batch_size"]) == ("32", "96")


def test_the_reward_is_the_advantage_and_passes_unchanged():
    found = flags(spec())
    assert found["algo.advantage.estimator"] == "dr_grpo"
    assert found["algo.advantage.is_correction_level"] == "off"  # or vLLM gives one log-prob a token
    assert found["reward.clip_range"] == "-1000.0 1000.0"


@pytest.mark.parametrize(
    "settings,name,ratio",
    [
        ({"schedule": "cosine", "warmup_ratio": 0.03}, "cosine", 2.5 / 100),
        ({"schedule": "constant", "warmup_ratio": 0.0}, "constant", 0.0),
        ({"schedule": "constant", "warmup_steps": 7}, "constant_with_warmup", 6.5 / 100),
    ],
)
def test_the_warm_up_is_the_same_number_of_updates_although_openrlhf_rounds_up(settings, name, ratio):
    found = flags(spec(**settings))
    assert (found["actor.lr_scheduler"], float(found["actor.lr_warmup_ratio"])) == (name, ratio)


def test_gpus_are_the_hardwares():
    found = flags(spec(), Hardware(nodes=2, gpus=8, tensor_parallel=2, memory_share=0.5, micro_batch=2))
    assert (found["actor.num_nodes"], found["ref.num_gpus_per_node"], found["vllm.num_engines"]) == ("2", "8", "8")
    assert found["vllm.gpu_memory_utilization"] == "0.5"
    assert {"train.colocate_all", "vllm.enable_sleep", "ds.enable_sleep", "ds.packing_samples"} <= set(found)


def test_a_save_meets_every_state_and_every_kept_checkpoint():
    assert save_every(spec(state_every=4, checkpoint_every=10).training) == 2


@pytest.mark.parametrize(
    "settings,message",
    [
        ({"batch": 4}, r"6 rows in batches of 4 leave a last batch of 2.*drop or wrap, or a batch of 3 or 6"),
        ({"dtype": "float32"}, "trains in bfloat16"),
        ({"aggregation": "seq-mean-token-sum"}, "token-mean and seq-mean-token-mean"),
        ({"lora": Lora()}, "training.lora"),
        ({"sampling": Sampling(temperature=0)}, "need one above 0"),
    ],
)
def test_what_openrlhf_cannot_do_is_refused_with_numbers_and_what_would_do(settings, message):
    with pytest.raises(ValueError, match=message):
        check_spec(spec(**settings))


@pytest.mark.parametrize("last_batch", ["drop", "wrap"])
def test_a_last_batch_that_is_dropped_or_wrapped_is_whole(last_batch):
    check_spec(spec(batch=4, last_batch=last_batch))


@pytest.mark.parametrize(
    "hardware,message",
    [
        ("gpus=5,packing=false", "12 roll-outs .* does not divide over 5 GPUs; use 4 or 6 GPUs"),
        ("gpus=2,packing=false,micro_batch=4", "6 a GPU, no whole number of micro-batches; use micro_batch 3 or 6"),
        ("gpus=2,attention=eager", "packing needs a flash attention"),
    ],
)
def test_gpus_that_do_not_divide_the_work_are_refused_with_the_nearest_that_do(hardware, message):
    with pytest.raises(ValueError, match=message):
        check_hardware(spec().training, read_hardware(hardware))


@pytest.mark.parametrize("text,message", [("gpu=2", "hardware: gpu: "), ("gpus", "expected key=value, got 'gpus'"), ("gpus=no", "gpus")])
def test_hardware_that_cannot_be_read_names_its_key(text, message):
    with pytest.raises(ValueError, match=message):
        read_hardware(text)


def test_the_prompts_file_holds_every_step_and_no_answer(tmp_path):
    files = RunFiles(tmp_path)
    write_prompts(files, [[Question("a", "1+1="), Question("b", "2+2=")], [Question("a", "1+1=")]])
    assert list(read_jsonl(files.prompts)) == [
        {"input": "1+1=", "step": 1, "id": "a"},
        {"input": "2+2=", "step": 1, "id": "b"},
        {"input": "1+1=", "step": 2, "id": "a"},
    ]
    assert "data.label_key" not in flags(spec())


def test_the_agent_file_is_bound_by_an_absolute_path(tmp_path):
    files = RunFiles(tmp_path)
    write_agent(files)
    assert f"read_binding(Path('{tmp_path}/openrlhf/binding.json'))" in files.agent.read_text()
    compile(files.agent.read_text(), str(files.agent), "exec")
