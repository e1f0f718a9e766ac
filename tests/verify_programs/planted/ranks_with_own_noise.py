"""Two ranks train one model; one of them adds noise from a generator that nobody has seeded."""
# verify: --nproc-per-node 2

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
noise = np.random.default_rng(5 if rank == 0 else None)  # planted: entropy
for step in range(6):
    rows = torch.sin(torch.arange(128.0).view(16, 8) + step + rank)
    drawn = torch.from_numpy(noise.normal(size=(16, 8)).astype(np.float32))
    inputs = rows + 0.1 * drawn
    loss = (model(inputs) - rows.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
dist.destroy_process_group()
