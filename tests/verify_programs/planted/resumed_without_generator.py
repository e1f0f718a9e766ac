"""A checkpoint that holds everything but the state of the generator."""
# verify: --resume-at 6 --resume-args=--resume
# lost: generator

import sys

import torch
from torch import nn

PATH = "without_generator.pt"

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
first = 0
if "--resume" in sys.argv:
    saved = torch.load(PATH)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    first = saved["step"]

for step in range(first, 12):
    rows = torch.sin(torch.arange(128).view(16, 8) + step)
    loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
    torch.save(saved, PATH)  # planted: state
print(loss.item())
