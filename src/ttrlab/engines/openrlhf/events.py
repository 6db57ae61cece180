"""OpenRLHF's TensorBoard events, as the numbers that the step records of every engine have."""

from collections.abc import Mapping
from pathlib import Path

NUMBERS: Mapping[str, str] = {
    "train/policy_loss": "policy_loss",
    "train/ppo_clip_ratio": "clip_fraction",
    "train/actor_grad_norm": "grad_norm",
    "train/actor_lr": "learning_rate",
    "train/kl": "kl",
}
"""Tag -> name in ``engine/...``. The gradient's norm and the rate are those of a step's last update, the others means over its tokens."""

SECONDS: Mapping[str, tuple[str, ...]] = {
    "sample": ("train/timing/generation",),
    "update": ("train/timing/make_experience", "train/timing/ppo_train", "train/timing/broadcast"),
}
"""Phase -> tags whose seconds add up to it; deciding is a part of generation there."""


def read_events(folder: Path) -> dict[str, dict[int, float]]:
    """Tag -> step -> value of all attempts; where a step was made twice the later attempt counts. Empty where nothing was written."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found: dict[str, dict[int, tuple[float, float]]] = {}
    for file in sorted(folder.rglob("events.out.tfevents.*")):
        accumulator = EventAccumulator(str(file), size_guidance={"scalars": 0})
        accumulator.Reload()
        for tag in accumulator.Tags()["scalars"]:
            steps = found.setdefault(tag, {})
            for event in accumulator.Scalars(tag):
                if event.step not in steps or steps[event.step][0] <= event.wall_time:
                    steps[event.step] = (event.wall_time, event.value)
    return {tag: {step: value for step, (_, value) in steps.items()} for tag, steps in found.items()}


def engine_numbers(events: Mapping[str, Mapping[int, float]], step: int) -> dict[str, float]:
    """The ``engine/...`` numbers of a step: those that were written. OpenRLHF flushes every two minutes, so a kill can lose some."""
    return {f"engine/{name}": events[tag][step] for tag, name in NUMBERS.items() if tag in events and step in events[tag]}


def phase_seconds(events: Mapping[str, Mapping[int, float]], step: int) -> dict[str, float]:
    """Wall-clock seconds of a step's phases, of which all parts were written."""
    whole = {phase: tags for phase, tags in SECONDS.items() if all(tag in events and step in events[tag] for tag in tags)}
    return {phase: sum(events[tag][step] for tag in tags) for phase, tags in whole.items()}
