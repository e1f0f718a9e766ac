"""Two ranks; the checkpoint of rank 0 has no schedule, so that the rate starts high again."""
# verify: --nproc-per-node 2 --resume-at 4 --resume-args=--resume
# lost: lr|learning rate|schedule

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

PATH = "ranks_without_schedule.pt"

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
first = 0
if "--resume" in sys.argv:
    saved = torch.load(PATH)
    model.module.load_state_dict(saved["model"])
    first = saved["step"]
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)

for step in range(first, 8):
    rows = torch.sin(torch.arange(128.0).view(16, 8) + step + rank)
    loss = (model(rows) - rows.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "step": step + 1}, PATH)  # planted: state
    dist.barrier()
print(loss.item())
dist.destroy_process_group()
