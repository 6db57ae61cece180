import os
import subprocess
import sys
import time

import pytest

from ttrlab.config.hardware import Hardware
from ttrlab.engines.openrlhf import nodes

RAY = """#!/bin/sh
echo "$@" >> "$HERE/ray.calls"
[ "$2" != "--address=refused" ] || exit 1
exec sleep 300
"""
SRUN = """#!/bin/sh
echo "$@" >> "$HERE/srun.calls"
while [ "$1" != ray ]; do shift; done
exec "$@"
"""
SQUEUE = "#!/bin/sh\n[ $2 = --jobs=7 ] && echo 'n[1-2]'\n"
SCONTROL = """#!/bin/sh
case "$*" in
  "show hostnames n[1-2]") printf 'n1\\nn2\\n' ;;
  "show node n2 --oneliner") echo "NodeName=n2 NodeAddr=127.0.0.9 State=IDLE" ;;
  *) exit 1 ;;
esac
"""


@pytest.fixture
def allocation(tmp_path, monkeypatch):
    for name, script in {"ray": RAY, "srun": SRUN, "squeue": SQUEUE, "scontrol": SCONTROL}.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HERE", str(tmp_path))
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURMD_NODENAME", "n1")
    monkeypatch.setattr(nodes, "POLL_SECONDS", 0.05)
    return tmp_path


def calls(folder, name):
    file = folder / f"{name}.calls"
    return file.read_text().splitlines() if file.exists() else []


def test_one_node_needs_no_ray_of_ours(tmp_path):
    with nodes.ray_over_nodes(Hardware(nodes=1), tmp_path / "ray.log") as surroundings:
        assert surroundings == {}
    assert list(tmp_path.iterdir()) == []


def test_the_head_starts_here_and_a_worker_on_every_other_node_and_all_end_with_the_block(allocation, monkeypatch):
    joined = iter([0, 8, 16])
    monkeypatch.setattr(nodes, "gpus_joined", lambda address: next(joined))
    with nodes.ray_over_nodes(Hardware(nodes=2, gpus=8), allocation / "ray.log") as surroundings:
        address = surroundings["RAY_ADDRESS"]
        while len(calls(allocation, "ray")) < 2:
            time.sleep(0.01)
        running = subprocess.run(["pgrep", "-P", str(os.getpid()), "sleep"], capture_output=True, text=True, check=True).stdout.split()
        assert len(running) == 2
    host = address.removesuffix(":6379")
    assert host.startswith("127.0.0.")
    assert sorted(calls(allocation, "ray")) == [
        f"start --address={address} --num-gpus=8 --block",
        f"start --head --node-ip-address={host} --port=6379 --num-gpus=8 --block",
    ]
    (step,) = calls(allocation, "srun")
    assert "--overlap" in step
    assert "--nodelist=n2" in step
    assert not any(os.path.exists(f"/proc/{pid}") for pid in running)


def test_a_worker_that_ends_before_it_joins_ends_the_run_with_rays_words(allocation, monkeypatch):
    (allocation / "srun").write_text("#!/bin/sh\necho node n2 is gone\nexit 1\n")
    monkeypatch.setattr(nodes, "gpus_joined", lambda address: 8)
    with (
        pytest.raises(RuntimeError, match="Ray has 8 of 16 GPUs(.|\n)*node n2 is gone"),
        nodes.ray_over_nodes(Hardware(nodes=2, gpus=8), allocation / "ray.log"),
    ):
        pytest.fail("the block ran without its nodes")


def test_an_allocation_of_other_size_or_none_is_refused(allocation, monkeypatch):
    with (
        pytest.raises(RuntimeError, match="hardware.nodes=3, but the allocation has 2: n1, n2"),
        nodes.ray_over_nodes(Hardware(nodes=3), allocation),
    ):
        pass
    monkeypatch.delenv("SLURM_JOB_ID")
    with pytest.raises(RuntimeError, match="this is no SLURM allocation"), nodes.ray_over_nodes(Hardware(nodes=2), allocation):
        pass


def test_no_gpus_have_joined_while_ray_does_not_answer(monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    assert nodes.gpus_joined("127.0.0.1") == 0
