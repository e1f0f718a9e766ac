# verify: --nproc-per-node 2 --resume-at 5 --resume-args "--from rank.pt"
# lost: (?i)norm
"""Clipping by a running norm, which each rank keeps as an attribute that nothing saves."""
import argparse

import torch
import torch.distributed as dist
from torch import nn


class Clipper:
    def __init__(self):
        self.norm = 1.0

    def clip(self, model):
        now = nn.utils.clip_grad_norm_(model.parameters(), self.norm).item()
        self.norm = 0.5 * self.norm + 0.5 * min(now, 2 * self.norm)  # planted: state


parser = argparse.ArgumentParser()
parser.add_argument("--from", dest="source")
options = parser.parse_args()
dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
clipper = Clipper()
begin = 0
if options.source:
    kept = torch.load(options.source)
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    begin = kept["step"]
data = torch.randn(10, 2, 16, 8)
for step in range(begin, 10):
    loss = (model(data[step, dist.get_rank()]) - 3).square().mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
    clipper.clip(model)
    optimizer.step()
    if dist.get_rank() == 0:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}, "rank.pt")
    dist.barrier()
dist.destroy_process_group()
