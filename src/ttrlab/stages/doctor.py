"""``ttrlab doctor``: what is wrong with this machine for a study, and how to mend it, before anything is started."""

import tempfile
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ttrlab.config.catalogue import read_yaml
from ttrlab.config.cluster import Cluster, Need, read_cluster
from ttrlab.config.study import Plan
from ttrlab.evaluate.cost import load_assumptions
from ttrlab.evaluate.disk import MOMENTS, kept_bytes, running_bytes
from ttrlab.evaluate.workload import BYTES
from ttrlab.stages import diagnosis
from ttrlab.stages.diagnosis import GIB, Finding
from ttrlab.stages.diagnosis_slurm import slurm
from ttrlab.stages.plan import Jobs, load_study
from ttrlab.stages.price import cost_model
from ttrlab.stages.queue import planned

LOCAL = (Path("envs/local.lock"), "make setup")
GPUS = (Path("envs/cluster.lock"), "make cluster-env, then ask its doctor: .venv-cluster/bin/ttrlab doctor (docs/slurm.md)")
LOCKS = {"torch": LOCAL, "vllm": GPUS, "openrlhf": GPUS}
"""Engine -> the lock of the environment that its jobs run in, and what makes that."""
CLUSTER = Path("profiles/slurm/cluster.yaml")


def repositories(plan: Plan) -> dict[str, str]:
    """The hub's repositories that a study reads: id -> model or dataset."""
    models = {cell.model for cell in plan.cells} | {judge.model for cell in plan.cells for judge in plan.judges(cell)}
    entries = [(plan.catalogue.models[name], "model") for name in sorted(models)]
    names = sorted({cell.benchmark for cell in plan.cells})
    return {entry.id: kind for entry, kind in entries if entry.source == "hub"} | {
        entry.id: "dataset" for name in names if (entry := plan.catalogue.benchmarks[name]).source == "hub"
    }


def ask_hub(name: str, kind: str) -> str | None:
    """What keeps a repository from being read; None when nothing does. ConnectionError when the hub does not answer."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    try:
        HfApi().auth_check(name, repo_type=kind)
    except GatedRepoError:
        return "its licence has to be accepted first"
    except RepositoryNotFoundError:
        return "not found, or private and not yours"
    except HfHubHTTPError as error:
        return str(error).splitlines()[0]
    except Exception as error:  # the classes are those of whichever HTTP library the client uses in its version
        raise ConnectionError(f"{type(error).__name__}: {error}") from None
    return None


def device_gib(plan: Plan) -> float:
    """GiB that weights, gradients and moments of the largest adapted model take on a device; 0 for the lab's models alone."""
    sizes = [0.0]
    for cell in plan.cells:
        entry, training = plan.catalogue.models[cell.model], plan.training(cell)
        if entry.source != "lab" and entry.parameters is not None and plan.method(cell).reward is not None and training.lora is None:
            sizes.append(entry.parameters * (2 * BYTES[training.dtype] + MOMENTS) / GIB)
    return max(sizes)


def bytes_needed(plan: Plan, cost: Path) -> float | None:
    """Bytes that a study may need (P90) for results and for one running adaptation; None where a model's size is not stated."""
    try:
        model = cost_model(plan, load_assumptions(cost), "cpu")
    except ValueError:
        return None
    return float(np.quantile(kept_bytes(plan, model), 0.9)) + running_bytes(plan, model)


def needs_of(plan: Plan, cluster: Cluster) -> set[Need]:
    """What the study's jobs ask of the cluster."""
    return {need for _, need in planned(Jobs(plan, f"results/{plan.study.study}"), cluster)}


def findings(plan: Plan, arguments: Namespace) -> Iterable[Finding]:
    """All checks, one after the other."""
    cluster = read_cluster(CLUSTER)
    needs = needs_of(plan, cluster)
    shards = max((need.gpus for need in needs), default=1) if plan.study.engine == "openrlhf" else 1
    yield diagnosis.python()
    lock, mend = (arguments.lock, f"pip install -r {arguments.lock}") if arguments.lock else LOCKS[plan.study.engine]
    yield diagnosis.packages(lock, mend)
    yield diagnosis.devices(device_gib(plan) / max(shards, 1))
    yield from slurm(cluster, needs)
    yield from diagnosis.hub(repositories(plan), ask_hub)
    yield diagnosis.writing("results", Path("results"))
    yield diagnosis.writing("temporary", Path(tempfile.gettempdir()))
    yield diagnosis.disk(Path("results"), bytes_needed(plan, arguments.cost))


def doctor_command(arguments: Namespace) -> str:
    """The findings as text; RuntimeError with the same text when something is wrong."""
    plan, _ = load_study(read_yaml(arguments.config))
    found = list(findings(plan, arguments))
    wrong = sum(one.state == "wrong" for one in found)
    text = "\n".join(rendered(found))
    if wrong:
        raise RuntimeError(f"{wrong} of {len(found)} checks for study {plan.study.study!r} found something wrong\n{text}")
    return f"{text}\nnothing is wrong for study {plan.study.study!r}"


def rendered(found: Iterable[Finding]) -> list[str]:
    """One line a finding, and one below it for how to mend it."""
    lines = []
    for one in found:
        lines.append(f"{one.state:<6}{one.check:<10} {one.found}")
        if one.mend:
            lines.append(f"{'':<16} -> {one.mend}")
    return lines
