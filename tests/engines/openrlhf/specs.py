"""A small spec for OpenRLHF, and hardware for a CPU."""

from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.hardware import read_hardware
from ttrlab.config.settings import Sampling, Training
from ttrlab.config.specs import AdaptSpec
from ttrlab.rewards import Majority

CPU = "gpus=1,colocate=false,packing=false,micro_batch=4,attention=eager,sync_backend=gloo,checkpointing=false"
HARDWARE = read_hardware(CPU)


def spec(rule=None, sampling=None, judge=None, **training):
    """Six questions in batches of 3, four votes of which four are trained on."""
    settings = {"votes": 4, "train": 4, "batch": 3, "dtype": "bfloat16", "episodes": 2, "checkpoint_every": 2, "learning_rate": 1e-3}
    return AdaptSpec(
        model="tiny", benchmark="sums", method="majority", seed=0, kind="integer", rows=6, engine="openrlhf",
        prompt=PromptStyle(template="plain", where="none"), revision=None, rule=rule or Majority(),
        sampling=sampling or Sampling(max_new_tokens=8, max_prompt_tokens=32), judge=judge, training=Training(**{**settings, **training}),
    )  # fmt: skip
