"""A sum over the processes, which adds one part after the other."""

import hashlib
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

WORLD = 7


def work(rank, file):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{file}", rank=rank, world_size=WORLD)
    if rank == 0:
        total = torch.zeros(10_000)
        part = torch.empty(10_000)
        for sender in range(1, WORLD):
            dist.recv(part, src=sender)
            total += part
        print(hashlib.sha256(total.numpy().tobytes()).hexdigest())
    else:
        generator = torch.Generator().manual_seed(rank)
        dist.send(torch.randn(10_000, generator=generator), 0)
    dist.barrier()


if __name__ == "__main__":
    file = os.path.abspath("rendezvous")
    mp.start_processes(work, (file,), nprocs=WORLD, start_method="fork")
