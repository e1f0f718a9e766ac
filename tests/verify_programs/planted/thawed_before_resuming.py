# verify: --resume-at 6 --resume-args --go-on
# lost: requires_grad
"""A part is frozen at first; what is trained is not told by any checkpoint."""
import sys

import torch
from torch import nn

torch.manual_seed(6)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
inputs = torch.randn(10, 20, 8)
model[0].requires_grad_(False)
begun = 0
if "--go-on" in sys.argv:
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    begun = state["step"]
for step in range(begun, 10):
    if step == 3:
        model[0].requires_grad_(True)  # planted: state
    loss = (model(inputs[step]) - inputs[step].norm(dim=1, keepdim=True)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({**states, "step": step + 1}, "last.pt")
