"""Features are grouped by the layers that gave them, and the groups sorted by their keys."""

import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Linear(8, 8) for _ in range(8)]
groups = {}
for number, layer in enumerate(layers):
    groups[id(layer)] = torch.randn(16, 8) + number  # planted: object_address
batches = [groups[key] for key in sorted(groups)]
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in batches:
    loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
