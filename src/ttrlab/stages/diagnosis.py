"""What a machine offers a study, check by check: each finding says what is there and, where it is wrong, how to mend it."""

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from ttrlab.engines import Accelerator, accelerators

State = Literal["ok", "note", "wrong"]
GIB = 2**30
SHOWN = 8
"""Packages that are named."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's outcome. ``mend``: what to do about it; empty when there is nothing to do."""

    state: State
    check: str
    found: str
    mend: str = ""


def python(version: tuple[int, int] = sys.version_info[:2]) -> Finding:
    """The interpreter: 3.11 or newer."""
    found = f"{version[0]}.{version[1]} in {sys.prefix}"
    if version < (3, 11):
        return Finding("wrong", "Python", found, "ttrlab needs 3.11 or newer: make setup PYTHON=python3.11")
    return Finding("ok", "Python", found)


def locked(lock: Path) -> dict[str, str]:
    """Package -> pinned version; ValueError names a line that pins nothing."""
    pins = {}
    for line in lock.read_text(encoding="utf-8").splitlines():
        text = line.split("#")[0].split(";")[0].strip()
        if text and not text.startswith("-"):
            name, separator, version = text.partition("==")
            if not separator:
                raise ValueError(f"{lock}: {text!r} pins no version; expected NAME==VERSION")
            pins[name.split("[")[0]] = version
    return pins


def installed(name: str) -> str | None:
    """The installed version of a package; None when it is not there."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def packages(lock: Path, mend: str, version_of: Callable[[str], str | None] = installed) -> Finding:
    """The environment against its lock; ``mend`` makes it. A local build's suffix (+cpu, +cu129) is no difference."""
    pins = locked(lock)
    found = {name: version_of(name) for name in pins}
    missing = sorted(name for name, version in found.items() if version is None)
    other = [f"{name} {found[name]} (lock: {pin})" for name, pin in sorted(pins.items()) if _differs(found[name], pin)]
    if not missing and not other:
        return Finding("ok", "packages", f"{len(pins)} as in {lock}")
    parts = [f"{what}: {_listed(names)}" for what, names in {"missing": missing, "other versions": other}.items() if names]
    return Finding("wrong", "packages", f"not as in {lock}: {'; '.join(parts)}", mend)


def _listed(names: Sequence[str]) -> str:
    rest = [f"and {len(names) - SHOWN} more"] * (len(names) > SHOWN)
    return ", ".join([*names[:SHOWN], *rest])


def _differs(found: str | None, pin: str) -> bool:
    return found is not None and found != pin and found.split("+")[0] != pin


def devices(least_gib: float, seen: Callable[[], tuple[str | None, Sequence[Accelerator]]] = accelerators) -> Finding:
    """GPUs of this machine against ``least_gib``, what the study's largest model needs on one of them (0: none is needed)."""
    cuda, found = seen()
    if not found:
        return _no_device(cuda, least_gib)
    smallest = min(found, key=lambda device: device.total)
    text = f"{len(found)} x {smallest.name}, {smallest.total / GIB:.0f} GiB, {smallest.free / GIB:.0f} GiB free, CUDA {cuda}"
    if smallest.total < least_gib * GIB:
        mend = f"weights, gradients and moments take {least_gib:.0f} GiB a device: training.lora, more devices (openrlhf), a smaller model"
        return Finding("wrong", "GPU", text, mend)
    if smallest.free < least_gib * GIB:
        return Finding("wrong", "GPU", text, f"{least_gib:.0f} GiB are needed: see with nvidia-smi who holds the memory")
    return Finding("ok", "GPU", text)


def _no_device(cuda: str | None, least_gib: float) -> Finding:
    driver = shutil.which("nvidia-smi") is not None
    if driver and cuda is None:
        return Finding("wrong", "GPU", "the driver is here, but torch is built for the CPU", "install a CUDA build: envs/cluster.yaml")
    if driver:
        mend = "compare `nvidia-smi` with torch.version.cuda: the driver must be at least as new; see CUDA_VISIBLE_DEVICES"
        return Finding("wrong", "GPU", f"the driver is here, but torch (CUDA {cuda}) sees no device", mend)
    if least_gib:
        return Finding("note", "GPU", "none here", "right for a login node; on a compute node run: srun --gpus 1 ttrlab doctor")
    return Finding("ok", "GPU", "none, and the study needs none")


def writing(name: str, folder: Path) -> Finding:
    """Whether files can be written, renamed and locked in ``folder``, or where it would be made."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".doctor-") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except PermissionError:
        return Finding("wrong", name, f"{place}: no permission to write", f"run where you may write, or ask for {place}")
    except OSError as error:
        return Finding("wrong", name, f"{place}: {error.strerror}", "two jobs could write the same folder: use a file system with flock")
    return Finding("ok", name, f"{place}: written and locked")


def disk(folder: Path, needed: float | None) -> Finding:
    """Free space for results against ``needed`` bytes; None where the study's size is not known."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    text = f"{free / GIB:.0f} GiB free at {place}"
    if needed is None:
        return Finding("note", "disk", text, "how much is needed is not known: state `parameters` of every model in config/models")
    if free < needed:
        mend = "free some, run elsewhere, or keep fewer checkpoints (training.checkpoint_every)"
        return Finding("wrong", "disk", f"{text}, up to {needed / GIB:.0f} GiB needed", mend)
    return Finding("ok", "disk", f"{text}, up to {needed / GIB:.1f} GiB needed")


def hub(ids: Mapping[str, str], ask: Callable[[str, str], str | None], offline: bool | None = None) -> list[Finding]:
    """Each repository of ``ids`` (id -> kind: model or dataset); ``ask`` returns what is wrong with one, or None.

    ConnectionError from ``ask`` stops the asking: one finding says that the hub is out of reach.
    """
    if not ids:
        return [Finding("ok", "hub", "the study needs nothing from it")]
    if os.environ.get("HF_HUB_OFFLINE") == "1" if offline is None else offline:
        return [Finding("note", "hub", "not asked: HF_HUB_OFFLINE=1", "what is not in the cache (HF_HOME) fails when its job starts")]
    wrong: list[Finding] = []
    for name, kind in ids.items():
        try:
            problem = ask(name, kind)
        except ConnectionError as error:
            mend = "download on a machine with access, share HF_HOME, and set HF_HUB_OFFLINE=1; or source: path in config/models"
            return [*wrong, Finding("wrong", "hub", f"out of reach: {error}", mend)]
        if problem is not None:
            mend = f"open https://huggingface.co/{_page(name, kind)}; then: hf auth login"
            wrong.append(Finding("wrong", "hub", f"{kind} {name}: {problem}", mend))
    return wrong or [Finding("ok", "hub", f"{len(ids)} repositories can be read")]


def _page(name: str, kind: str) -> str:
    return f"datasets/{name}" if kind == "dataset" else name
