"""A baseline of rewards is kept in Python, and is not in the checkpoint."""
# verify: --resume-at 5 --resume-args=--resume
# lost: baseline

import sys

import torch
from torch import nn

PATH = "policy.pt"

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
baseline = 0.0
first = 0
if "--resume" in sys.argv:
    saved = torch.load(PATH)
    policy.load_state_dict(saved["policy"])
    optimizer.load_state_dict(saved["optimizer"])
    first = saved["step"]

for step in range(first, 10):
    states = torch.cos(torch.arange(32.0).view(8, 4) + step)
    log = torch.log_softmax(policy(states), 1)
    reward = (states[:, 0] > 0).float() + 0.1 * step
    loss = -(log[:, 0] * (reward - baseline)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    state = {"policy": policy.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({**state, "step": step + 1}, PATH)  # planted: state
print(loss.item())
