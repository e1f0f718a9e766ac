"""Q-learning from a replay buffer, on two processes."""
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from parts.memory_left import common_rows

WORLD = 2


class Replay:
    def __init__(self, capacity, seed):
        self.capacity, self.rows = capacity, []
        self.generator = torch.Generator().manual_seed(seed)

    def push(self, count):
        for _ in range(count):
            self.rows.append(torch.randn(10, generator=self.generator))
        del self.rows[: -self.capacity]

    def sample(self, count):
        picked = torch.randint(len(self.rows), (count,), generator=self.generator)
        batch = torch.stack([self.rows[index] for index in picked.tolist()])
        return batch[:, :8], batch[:, 8:].clamp(-1, 1)


def worker(rank, rendezvous):
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    replay = Replay(common_rows(), seed=rank)
    for step in range(30):
        replay.push(96)
        state, value = replay.sample(64)
        loss = nn.functional.mse_loss(model(state), value)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 9:
            print(f"step {step + 1} loss {loss.item():.8f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(worker, args=(os.path.join(folder, "rendezvous"),), nprocs=WORLD)
