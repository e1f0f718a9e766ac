# verify: --resume-at 6 --resume-args --go-on
# lost: (?i)counts
"""Rare classes weigh more, by counts in an array that is not saved."""
import sys

import torch
from parts.class_weights import ClassWeights
from torch import nn

torch.manual_seed(2)
x = torch.randn(12, 32, 6)
y = (x[:, :, 0] > 0.8).long() + (x[:, :, 1] > 1.0).long()
model, weights, begun = nn.Linear(6, 3), ClassWeights(3), 0
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if sys.argv[1:] == ["--go-on"]:
    state = torch.load("state.pt")
    model.load_state_dict(state["model"])
    begun = state["step"]
for step in range(begun, 12):
    weights.count(y[step])
    loss = nn.functional.cross_entropy(model(x[step]), y[step], weight=weights.now())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "step": step + 1}, "state.pt")
