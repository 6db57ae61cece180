"""From a spec and the hardware to OpenRLHF's command line: pure functions, flag for flag."""

from dataclasses import dataclass
from math import gcd
from pathlib import Path

from ttrlab.config.hardware import Hardware
from ttrlab.config.settings import Training
from ttrlab.config.specs import AdaptSpec

PROGRAM = ("python", "-m", "openrlhf.cli.train_ppo_ray")
REWARD_BOUND = 1000.0
"""The advantage arrives as the reward; OpenRLHF would clip it at 10 by default. |A| < sqrt(votes) times a weight of at most 1."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Where one run lies, below the adaptation's ``folder`` (absolute)."""

    folder: Path

    @property
    def inputs(self) -> Path:
        """What OpenRLHF is given."""
        return self.folder / "openrlhf"

    @property
    def agent(self) -> Path:
        """The generated file that its vLLM workers load."""
        return self.inputs / "agent.py"

    @property
    def binding(self) -> Path:
        """Spec and absolute paths that the agent file is bound to."""
        return self.inputs / "binding.json"

    @property
    def prompts(self) -> Path:
        """Its prompts file: one row a question of a step."""
        return self.inputs / "prompts.jsonl"

    @property
    def events(self) -> Path:
        """TensorBoard events."""
        return self.inputs / "events"

    @property
    def log(self) -> Path:
        """What OpenRLHF prints, all attempts."""
        return self.inputs / "openrlhf.log"

    @property
    def state(self) -> Path:
        """DeepSpeed states, and policies in Hugging Face form until they are collected."""
        return self.folder / "state" / "openrlhf"

    @property
    def final(self) -> Path:
        """The policy after the last step."""
        return self.state / "final"


def command(spec: AdaptSpec, model: str, hardware: Hardware, files: RunFiles, updates: int) -> list[str]:
    """The whole command. ``model``: folder or hub id; ``updates``: optimiser updates of the whole run."""
    flags = {
        **_data_flags(spec, files),
        **_rollout_flags(spec, hardware),
        **_training_flags(spec, hardware, updates),
        **_hardware_flags(spec, hardware),
        **_checkpoint_flags(spec.training, files),
    }
    return [*PROGRAM, "--actor.model_name_or_path", model, *_rendered(flags)]


def save_every(training: Training) -> int:
    """Steps between two saves: one flag serves resuming and the kept checkpoints, so both multiples must be met."""
    return gcd(training.state_every, training.checkpoint_every)


Flag = str | int | float | tuple[float, ...] | bool


def _rendered(flags: dict[str, Flag]) -> list[str]:
    """Words of a command line; a flag without a value is True, one that is left out is False."""
    words: list[str] = []
    for name, value in flags.items():
        if value is False:
            continue
        values = () if value is True else value if isinstance(value, tuple) else (value,)
        words += [f"--{name}", *(str(one) for one in values)]
    return words


def _data_flags(spec: AdaptSpec, files: RunFiles) -> dict[str, Flag]:
    return {
        "train.agent_func_path": str(files.agent),
        "data.prompt_dataset": str(files.prompts),
        "data.input_key": "input",
        "data.max_len": spec.sampling.max_prompt_tokens + spec.sampling.max_new_tokens,
    }


def _rollout_flags(spec: AdaptSpec, hardware: Hardware) -> dict[str, Flag]:
    return {
        "rollout.batch_size": spec.training.batch,
        "rollout.n_samples_per_prompt": spec.training.train,
        "rollout.max_new_tokens": spec.sampling.max_new_tokens,
        "rollout.temperature": spec.sampling.temperature,
        "rollout.top_p": spec.sampling.top_p,
        "rollout.micro_batch_size": hardware.micro_batch,
    }


def _training_flags(spec: AdaptSpec, hardware: Hardware, updates: int) -> dict[str, Flag]:
    training = spec.training
    lora = training.lora
    return {
        "train.batch_size": (training.mini_batch or training.batch) * training.train,
        "train.micro_batch_size": hardware.micro_batch,
        "train.dynamic_batch_enable": hardware.packing,
        "train.max_epochs": training.epochs,
        "train.num_episodes": 1,  # the prompts file holds every step of the run
        "train.seed": spec.seed,
        "algo.advantage.estimator": "dr_grpo",
        "algo.advantage.is_correction_level": "off",
        "reward.clip_range": (-REWARD_BOUND, REWARD_BOUND),
        "algo.kl.use_loss": True,
        "algo.kl.init_coef": training.kl_coefficient,
        "algo.kl.estimator": training.kl_estimator,
        "actor.policy_loss_type": "ppo",
        "actor.loss_agg_mode": training.aggregation,
        "actor.eps_clip_low_high": (training.clip_low, training.clip_high),
        **({"actor.dual_clip": training.dual_clip} if training.dual_clip is not None else {}),
        **_optimiser_flags(training, updates),
        **({"ds.lora.rank": lora.rank, "ds.lora.alpha": lora.alpha, "ds.lora.dropout": lora.dropout} if lora else {}),
    }


def _optimiser_flags(training: Training, updates: int) -> dict[str, Flag]:
    """AdamW and its schedule. OpenRLHF rounds ``ratio * updates`` up, hence the half step below the wanted whole number."""
    warmup = training.warmup_steps if training.warmup_steps is not None else int(training.warmup_ratio * updates)
    constant = "constant_with_warmup" if warmup else "constant"
    return {
        "actor.optim": "adam",
        "actor.adam.lr": training.learning_rate,
        "actor.adam.betas": training.betas,
        "actor.adam.eps": 1e-8,
        "actor.adam.weight_decay": training.weight_decay,
        "actor.lr_scheduler": "cosine" if training.schedule == "cosine" else constant,
        "actor.lr_warmup_ratio": (warmup - 0.5) / updates if warmup else 0.0,
        "actor.max_norm": training.grad_clip,
    }


def _hardware_flags(spec: AdaptSpec, hardware: Hardware) -> dict[str, Flag]:
    packed: dict[str, Flag] = {"train.max_tokens_per_gpu": hardware.tokens_per_gpu, "ds.packing_samples": True} if hardware.packing else {}
    return {
        "actor.num_nodes": hardware.nodes,
        "actor.num_gpus_per_node": hardware.gpus,
        "ref.num_nodes": hardware.nodes,
        "ref.num_gpus_per_node": hardware.gpus,
        "vllm.num_engines": hardware.engines,
        "vllm.tensor_parallel_size": hardware.tensor_parallel,
        "vllm.gpu_memory_utilization": hardware.memory_share,
        "vllm.sync_backend": hardware.sync_backend,
        "vllm.enable_prefix_caching": True,  # a group's roll-outs are requests of their own, with one prompt
        "train.colocate_all": hardware.colocate,
        "vllm.enable_sleep": hardware.colocate,
        "ds.enable_sleep": hardware.colocate,
        "ds.zero_stage": hardware.zero_stage,
        "ds.param_dtype": "bf16",
        "ds.attn_implementation": hardware.attention,
        "ds.adam_offload": hardware.offload,
        "actor.gradient_checkpointing_enable": hardware.checkpointing,
        **packed,
    }


def _checkpoint_flags(training: Training, files: RunFiles) -> dict[str, Flag]:
    return {
        "ckpt.path": str(files.state),
        "ckpt.load_enable": True,  # acts only where a checkpoint is
        "ckpt.save_steps": save_every(training),
        "ckpt.max_num": 2,
        "ckpt.save_hf": True,
        "ckpt.best_metric_key": "none",
        "ckpt.output_dir": str(files.final),
        "logger.tensorboard_dir": str(files.events),
        "logger.wandb.run_name": "run",
    }
