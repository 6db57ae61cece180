"""Lets OpenRLHF's calls of torch.cuda run on the CPU. The stand-in for vLLM applies it, since every process of OpenRLHF imports vLLM."""

import torch
from torch.distributed import TCPStore, device_mesh


class Cpu(str):
    """The device's name; in ``f"cuda:{device}"`` it is a number, as torch's own answer would be."""

    def __format__(self, _):
        return "0"


class StoreGroup:
    """A broadcast from the trainer to the engines through a TCP store, in the place of NCCL."""

    def __init__(self, host, port, rank, world):
        self.rank, self.world, self.sent = rank, world, 0
        self.store = TCPStore(host, port, world, is_master=rank == 0, wait_for_workers=False)

    def broadcast(self, tensor, src=0, stream=None):
        """Send ``tensor``, or fill it with what rank ``src`` sent."""
        key = f"weights{self.sent}"
        self.sent += 1
        if self.rank == src:
            self.store.set(key, tensor.detach().contiguous().view(torch.uint8).numpy().tobytes())
            return
        received = torch.frombuffer(bytearray(self.store.get(key)), dtype=torch.uint8)
        tensor.copy_(received.view(tensor.dtype).view(tensor.shape))
        if self.store.add(f"{key}.taken", 1) == self.world - 1:
            self.store.delete_key(key)


def apply():
    """Once a process."""
    from openrlhf.utils import distributed_util

    torch.set_num_threads(1)
    torch.cuda.current_device = lambda: Cpu("cpu")
    for name in ("set_device", "synchronize", "empty_cache", "current_stream"):
        setattr(torch.cuda, name, lambda *_: None)
    on_device = device_mesh.init_device_mesh
    device_mesh.init_device_mesh = lambda _, *given, **named: on_device("cpu", *given, **named)
    distributed_util.stateless_init_process_group = lambda host, port, rank, world, _: StoreGroup(host, port, rank, world)
