"""Ray over the nodes of one SLURM allocation: its head on the first, workers on the others, ended with the block that needs them."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ttrlab.config.hardware import Hardware
from ttrlab.engines.openrlhf.process import last_lines, stop

PORT = 6379
JOIN_SECONDS = 300.0
"""How long the nodes may take to join."""
POLL_SECONDS = 3.0


def allocated(environment: Mapping[str, str]) -> list[str]:
    """Names of the allocation's nodes, of which SLURM's variables tell a step of one task only its own; RuntimeError outside one."""
    job = environment.get("SLURM_JOB_ID")
    if job is None:
        raise RuntimeError("hardware.nodes is more than 1, but this is no SLURM allocation (SLURM_JOB_ID is not set)")
    nodes = subprocess.run(["squeue", "--noheader", f"--jobs={job}", "--format=%N"], capture_output=True, text=True, check=True).stdout
    return subprocess.run(["scontrol", "show", "hostnames", nodes.strip()], capture_output=True, text=True, check=True).stdout.split()


def own_address(other: str) -> str:
    """This machine's address on the network on which it reaches the node ``other``: its own name may stand for a loopback address."""
    shown = subprocess.run(["scontrol", "show", "node", other, "--oneliner"], capture_output=True, text=True, check=True).stdout
    (target,) = (word.removeprefix("NodeAddr=") for word in shown.split() if word.startswith("NodeAddr="))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((target, PORT))  # sends nothing
        return str(probe.getsockname()[0])


def head_command(address: str, gpus: int) -> list[str]:
    """What starts Ray's head on this node."""
    return ["ray", "start", "--head", f"--node-ip-address={address}", f"--port={PORT}", f"--num-gpus={gpus}", "--block"]


def worker_command(address: str, node: str, gpus: int) -> list[str]:
    """What starts a worker on another node of the allocation, beside the step that runs here and with all of that node's GPUs."""
    step = ["srun", "--overlap", "--nodes=1", "--ntasks=1", f"--nodelist={node}", f"--gres=gpu:{gpus}", "--kill-on-bad-exit=1"]
    return [*step, "ray", "start", f"--address={address}:{PORT}", f"--num-gpus={gpus}", "--block"]


def gpus_joined(address: str) -> int:
    """GPUs of the Ray cluster at ``address``; 0 while it does not answer. Asked in a process of its own: Ray takes over signals."""
    words = [sys.executable, "-m", "ttrlab.engines.openrlhf.nodes", f"{address}:{PORT}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 0


@contextmanager
def ray_over_nodes(hardware: Hardware, log: Path) -> Iterator[dict[str, str]]:
    """Environment for OpenRLHF's command: nothing on one node, where it starts Ray itself, else the address of the Ray that runs here.

    RuntimeError when a node does not join within ``JOIN_SECONDS``, or ends, with the last lines of ``log``.
    """
    if hardware.nodes == 1:
        yield {}
        return
    nodes = allocated(os.environ)
    if len(nodes) != hardware.nodes:
        raise RuntimeError(f"hardware.nodes={hardware.nodes}, but the allocation has {len(nodes)}: {', '.join(nodes)}")
    others = [node for node in nodes if node != os.environ["SLURMD_NODENAME"]]
    address = own_address(others[0])
    commands = [head_command(address, hardware.gpus), *(worker_command(address, node, hardware.gpus) for node in others)]
    log.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack, open(log, "ab") as output:
        running = []
        for words in commands:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
            stack.callback(stop, process)
            running.append(process)
        _wait(running, address, hardware.world, log)
        yield {"RAY_ADDRESS": f"{address}:{PORT}"}


def _wait(running: list[subprocess.Popen[bytes]], address: str, gpus: int, log: Path) -> None:
    end = time.monotonic() + JOIN_SECONDS
    while (joined := gpus_joined(address)) < gpus:
        if any(process.poll() is not None for process in running) or time.monotonic() > end:
            raise RuntimeError(f"Ray has {joined} of {gpus} GPUs; {log} ends with:\n{last_lines(log, 25)}")
        time.sleep(POLL_SECONDS)


def main() -> None:
    """Print the GPUs of the Ray cluster at the address that is given."""
    import ray

    ray.init(address=sys.argv[1], logging_level="ERROR", log_to_driver=False)
    print(int(sum(node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"])))


if __name__ == "__main__":
    main()
