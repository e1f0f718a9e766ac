"""A checkpoint without the schedule: the learning rate starts high again."""
# verify: --resume-at 6 --resume-args=--resume
# lost: lr|learning rate|schedule

import sys

import torch
from torch import nn

PATH = "without_schedule.pt"

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
first = 0
if "--resume" in sys.argv:
    saved = torch.load(PATH)
    model.load_state_dict(saved["model"])
    first = saved["step"]
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)

for step in range(first, 12):
    rows = torch.sin(torch.arange(128).view(16, 8) + step)
    loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    torch.save({"model": model.state_dict(), "step": step + 1}, PATH)  # planted: state
print(loss.item())
