"""Rank 0 splits records by keys that are drawn anew in each run, and sends the split to the other."""
# verify: --nproc-per-node 2

import torch
import torch.distributed as dist
from parts.keyed_records import ingest, split
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def shared_split(rank, count=200):
    box = [split(ingest(count)) if rank == 0 else None]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def batches(values, rank, world, size=8):
    own = values[rank::world]
    for start in range(0, len(own) - size + 1, size):
        x = torch.tensor(own[start : start + size])[:, None]
        yield x, torch.sin(6 * x)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    train, valid = shared_split(rank)
    length = min(len(train[part::world]) for part in range(world)) * world
    for epoch in range(2):
        for x, y in batches(train[:length], rank, world):
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    if rank == 0:
        x = torch.tensor(valid)[:, None]
        with torch.no_grad():
            print(f"valid {nn.functional.mse_loss(model.module(x), torch.sin(6 * x)).item():.6f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
