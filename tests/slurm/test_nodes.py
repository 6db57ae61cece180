"""A job of two nodes on a real SLURM, as the workflow asks for it, with the real Ray of `make openrlhf-cpu` over its GPUs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slurm.cluster import output
from tests.slurm.world import CHECKS, environment

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-openrlhf/bin/python"
pytestmark = [pytest.mark.slurm, pytest.mark.timeout(600)]

SNAKEFILE = """
from pathlib import Path
from ttrlab.config.cluster import RESOURCES, read_cluster
CLUSTER = read_cluster(Path("cluster.yaml"))
rule two:
    output: "two.json"
    resources: **{name: CLUSTER.resources(CLUSTER.sizes[-1].adapt, 1)[name] for name in RESOURCES}
    shell: "python two.py {resources.hardware:q} > {output:q}"
"""
TABLE = """
account: null
partitions: {cpu: cpu, gpu: gpu}
limits: {minutes: null, memory_mb: null}
gpu_model: h200
gpus_per_node: 4
unstated: 8.0
other: {gpus: 0, cpus: 1, memory_mb: 1000, minutes: 10}
sizes: [{billions: 16, adapt: {gpus: 8, cpus: 2, memory_mb: 4000, minutes: 10}, evaluate: {gpus: 4, cpus: 2, memory_mb: 1000, minutes: 10}}]
"""
JOB = """
import os, subprocess, sys
from pathlib import Path
from ttrlab.config.hardware import read_hardware
from ttrlab.engines.openrlhf.nodes import ray_over_nodes
with ray_over_nodes(read_hardware(sys.argv[1]), Path("ray.log")) as surroundings:
    subprocess.run([sys.executable, "ask.py"], env={**os.environ, **surroundings}, check=True)
"""
ASK = """
import json, os, ray
ray.init(log_to_driver=False)
@ray.remote(num_gpus=4, num_cpus=0, scheduling_strategy="SPREAD")
class Worker:
    def seen(self):
        return [os.environ["SLURMD_NODENAME"], sorted(map(str, ray.get_gpu_ids()))]
workers = [Worker.remote() for _ in range(2)]
print(json.dumps(sorted(ray.get([worker.seen.remote() for worker in workers]))))
"""


@pytest.mark.usefixtures("cluster")
@pytest.mark.skipif(not PYTHON.exists(), reason="no Ray: make openrlhf-cpu")
def test_a_job_of_two_nodes_has_one_ray_with_the_gpus_of_both(tmp_path):
    for name, text in {"Snakefile": SNAKEFILE, "cluster.yaml": TABLE, "two.py": JOB, "ask.py": ASK}.items():
        (tmp_path / name).write_text(text)
    surroundings = {**environment(), "PATH": f"{PYTHON.parent}:{environment()['PATH']}"}
    snakemake = [sys.executable, "-m", "snakemake", "--profile", str(ROOT / "profiles/slurm"), "--retries", "0", *CHECKS]
    done = subprocess.run(snakemake, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads((tmp_path / "two.json").read_text()) == [["g1", ["0", "1", "2", "3"]], ["g2", ["0", "1", "2", "3"]]]
    rows = output("sacct", "-X", "-n", "-P", "-o", "WorkDir,State,NNodes,AllocTRES").splitlines()
    (job,) = [row for row in rows if row.startswith(f"{tmp_path}|")]
    assert "|COMPLETED|2|" in job
    assert "gres/gpu=8" in job
