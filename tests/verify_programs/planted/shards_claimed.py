"""Ranks claim shards by files that only one of them can make."""
# verify: --nproc-per-node 2

import os

import torch
import torch.distributed as dist
from torch import nn

CLAIMS = "claims"


def claim(number):
    path = os.path.join(CLAIMS, f"{number}.lock")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))  # planted: thread_order
    except FileExistsError:
        return False
    return True


dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
os.makedirs(CLAIMS, exist_ok=True)
mine = [number for number in range(40) if claim(number)]
for step in range(6):
    number = mine[step % len(mine)] if mine else 0
    x = torch.cos(torch.arange(8.0).view(2, 4) * number)
    loss = (model(x) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    for each in model.parameters():
        dist.all_reduce(each.grad)
    optimizer.step()
dist.destroy_process_group()
