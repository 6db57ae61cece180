"""What ttrlab takes for granted of OpenRLHF 0.11.2, held against its real wheel: `make test-openrlhf` (.venv-openrlhf, on the CPU)."""

import ast
import asyncio
import inspect
import shlex
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("openrlhf", reason="OpenRLHF is not installed in this environment: make test-openrlhf runs these tests in its own")
sys.path.insert(0, str(Path(__file__).parent / "stand_ins"))

import torch
from openrlhf.cli import train_ppo_ray
from openrlhf.models.loss import PolicyLoss, aggregate_loss
from openrlhf.models.utils import compute_approx_kl
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
from openrlhf.trainer.ray import vllm_engine
from openrlhf.utils.agent import AgentExecutorBase

from tests.engines.openrlhf.specs import HARDWARE, spec
from ttrlab.advantage import question_advantage
from ttrlab.config.settings import Training
from ttrlab.engines.loss import kl_loss, policy_loss, token_weights
from ttrlab.engines.openrlhf.command import REWARD_BOUND, RunFiles, command
from ttrlab.stages.dry_run import dry_run_command
from ttrlab.stages.openrlhf_agent import GroupAgent
from ttrlab.types import RewardDecision

pytestmark = pytest.mark.openrlhf
ROOT = Path(__file__).parents[3]


def parsed(words, monkeypatch):
    """The namespace that OpenRLHF's own command line makes of ``words``, all its checks included, without training."""
    tree = ast.parse(Path(train_ppo_ray.__file__).read_text())
    (main,) = [node for node in tree.body if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)]
    seen = []
    names = {**vars(train_ppo_ray), "train": seen.append}
    monkeypatch.setattr(sys, "argv", ["train_ppo_ray", *words])
    exec(compile(ast.Module(main.body, []), train_ppo_ray.__file__, "exec"), names)
    return seen[0]


def test_the_wheel_is_the_one_that_was_read():
    assert version("openrlhf") == "0.11.2"


def test_its_parser_takes_the_command_for_qwen_on_math500_by_core(monkeypatch):
    monkeypatch.chdir(ROOT)
    cell = ["model=Qwen2.5-Math-1.5B", "benchmark=MATH-500", "method=core", "seed=0"]
    text = dry_run_command(ROOT / "config/config.yaml", cell, "nodes=1,gpus=8")
    program, *words = shlex.split(text.replace("\\\n", " "))
    assert program.endswith("python")
    assert words[:2] == ["-m", "openrlhf.cli.train_ppo_ray"]
    found = parsed(words[2:], monkeypatch)
    assert found.actor.model_name_or_path.endswith("Qwen2.5-Math-1.5B")
    assert (found.algo.advantage.estimator, found.algo.advantage.is_correction_level) == ("dr_grpo", "off")
    assert (found.algo.kl.use_loss, found.vllm.num_engines, found.train.colocate_all) == (True, 8, True)
    assert found.train.batch_size % found.rollout.n_samples_per_prompt == 0
    assert found.ckpt.load_enable
    assert found.train.agent_func_path.endswith("openrlhf/agent.py")


def test_its_parser_takes_a_small_spec_and_every_value_arrives(monkeypatch):
    a_spec = spec(betas=(0.8, 0.88), clip_high=0.28, kl_coefficient=0.01, kl_estimator="k2", schedule="constant", warmup_steps=1)
    found = parsed(command(a_spec, "model", HARDWARE, RunFiles(Path("/run")), 4)[3:], monkeypatch)
    assert tuple(found.actor.adam.betas) == (0.8, 0.88)
    assert tuple(found.actor.eps_clip_low_high) == (0.2, 0.28)
    assert (found.algo.kl.init_coef, found.algo.kl.estimator) == (0.01, "k2")
    assert (found.actor.lr_scheduler, found.actor.adam.lr) == ("constant_with_warmup", 1e-3)
    assert tuple(found.reward.clip_range) == (-REWARD_BOUND, REWARD_BOUND)


def test_execute_is_called_with_the_arguments_that_the_agent_takes():
    assert list(inspect.signature(AgentExecutorBase.execute).parameters) == list(inspect.signature(GroupAgent.execute).parameters)


def test_a_group_is_n_calls_with_one_parameters_object_gathered_in_order():
    engine = vllm_engine.RolloutRayActor.__ray_metadata__.modified_class
    seen = []

    async def execute(**given):
        seen.append(given)
        await asyncio.sleep(0)
        return len(seen)

    this, params = SimpleNamespace(executor=SimpleNamespace(execute=execute)), object()
    asyncio.run(engine.generate_responses(this, "p", None, params, 64, "tokenizer", num_samples=4))
    assert len(seen) == 4
    assert all(given["sampling_params"] is params and given["llm_engine"] is this for given in seen)
    assert not any("num_samples" in given for given in seen)


@pytest.mark.parametrize("mode", [None, "processed_logprobs"])
def test_importance_correction_would_leave_one_log_prob_a_token(monkeypatch, mode):
    made = []
    actor = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda **given: made.append(given)))
    monkeypatch.setattr(vllm_engine, "RolloutRayActor", actor)
    monkeypatch.setattr(vllm_engine, "PlacementGroupSchedulingStrategy", lambda **_: None)
    settings = {"enable_prefix_caching": True, "enforce_eager": True, "max_model_len": 64, "shared_pg": "here"}
    vllm_engine.create_vllm_engines(1, 1, "model", 0, False, logprobs_mode=mode, **settings)
    assert made[0].get("max_logprobs") == (1 if mode else None)


def maker(samples):
    """OpenRLHF's advantage code, for groups of ``samples``."""
    made = SimpleNamespace(
        algo=SimpleNamespace(
            advantage=SimpleNamespace(estimator="dr_grpo", gamma=1.0, lambd=1.0, no_std_norm=False),
            kl=SimpleNamespace(use_loss=True, init_coef=1e-3, estimator="k3"),
        ),
        rollout=SimpleNamespace(n_samples_per_prompt=samples, micro_batch_size=4, max_new_tokens=16),
        reward=SimpleNamespace(clip_range=(-REWARD_BOUND, REWARD_BOUND), overlong_buffer_len=None, stop_properly_penalty_coef=None),
        train=SimpleNamespace(dynamic_batch_enable=False),
        data=SimpleNamespace(max_len=64),
    )
    return RemoteExperienceMaker(
        None, None, None, None, SimpleNamespace(value=1e-3), SimpleNamespace(args=made), SimpleNamespace(pad_token_id=1)
    )


def experience(reward, tokens):
    """One roll-out of ``tokens`` response tokens behind two of the prompt."""
    mask = torch.zeros(1, 11)
    mask[0, 1 : 1 + tokens] = 1
    value = torch.tensor([reward], dtype=torch.float32)
    return Experience(
        sequences=torch.zeros(1, 12, dtype=torch.long), attention_mask=torch.ones(1, 12), action_mask=mask, rewards=value, scores=value,
        response_length=torch.tensor([tokens]), truncated=torch.tensor([False]), total_length=torch.tensor([12]), kl=torch.zeros(1, 11),
        prompts=["p"], labels=[""], images=[None], mm_train_inputs=[None], info={"reward": value},
    )  # fmt: skip


def decision(rewards, weight=1.0, abstained=False):
    values = torch.tensor(rewards, dtype=torch.float64).numpy()
    return RewardDecision(rewards=values, pseudo_label=None, weight=weight, abstained=abstained)


GROUPS = {
    "one right of eight": decision([1.0] + [0.0] * 7),
    "graded, with a gate": decision([0.9, 0.1, 0.3, 0.3, 0.0, 0.7, 0.2, 0.5], weight=0.3),
    "constant": decision([0.3] * 8),
    "abstaining": decision([0.0] * 8, abstained=True),
}


@pytest.mark.parametrize("name", GROUPS)
def test_dr_grpo_passes_an_advantage_given_as_reward(name):
    wanted = question_advantage(GROUPS[name], 8, "std", 1)
    made = maker(8)
    samples = made.split_rollout_samples([experience(float(a), 3 + i) for i, a in enumerate(wanted)])
    batches = made.compute_advantages_and_returns(samples)
    rows = [row for one in batches for row in (one.advantages * one.action_mask).sum(1) / one.action_mask.sum(1)]
    assert [float(row) for row in rows] == pytest.approx(wanted.tolist(), abs=1e-6)


@pytest.mark.parametrize("aggregation", ["token-mean", "seq-mean-token-mean"])
@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
@pytest.mark.parametrize("dual_clip", [None, 3.0])
def test_both_engines_have_the_same_loss_and_gradient_on_a_batch_with_gate_abstention_and_kl(aggregation, estimator, dual_clip):
    torch.manual_seed(0)
    training = Training(
        votes=8, train=8, batch=1, clip_high=0.28, dual_clip=dual_clip, kl_estimator=estimator, aggregation=aggregation, kl_coefficient=0.05
    )
    lengths = torch.randint(2, 13, (32, 1))
    mask = (torch.arange(12)[None, :] < lengths).float()
    advantages = torch.tensor(
        [value for group in GROUPS.values() for value in question_advantage(group, 8, "std", 1)], dtype=torch.float32
    )[:, None]
    start = torch.randn(32, 12) * 0.3 - 1
    old, reference = start + 0.4 * torch.randn(32, 12), start + 0.3 * torch.randn(32, 12)

    ours = start.clone().requires_grad_()
    token, _ = policy_loss(ours, old, advantages, training)
    weight = token_weights(mask, aggregation, 12)
    mine = (weight * token).sum() + training.kl_coefficient * (weight * kl_loss(ours, reference, estimator)).sum()
    mine.backward()

    theirs = start.clone().requires_grad_()
    token_level = aggregation == "token-mean"
    totals = {"batch_num_tokens": float(mask.sum()), "global_batch_size": 32.0}
    loss = PolicyLoss(clip_eps_low=0.2, clip_eps_high=0.28, dual_clip=dual_clip, token_level_loss=token_level)
    policy, *_ = loss(theirs, old, advantages.expand(32, 12), action_mask=mask, **totals)
    kl = aggregate_loss(compute_approx_kl(theirs, reference, kl_estimator=estimator), mask, token_level_loss=token_level, **totals)
    other = policy + training.kl_coefficient * kl
    other.backward()
    assert float(mine.detach()) == pytest.approx(float(other.detach()), abs=1e-6)
    assert float((ours.grad - theirs.grad).abs().max()) < 1e-6
