# verify: --nproc-per-node 2
"""Each rank seeds its augmentation by its process number."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
noise = torch.Generator()
noise.manual_seed(os.getpid() + rank)  # planted: process
for step in range(4):
    batch = torch.full((4, 6), float(step + rank))
    batch = batch + torch.randn(4, 6, generator=noise)
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
