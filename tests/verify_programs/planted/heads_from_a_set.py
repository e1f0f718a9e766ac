"""Layers are made, and so drawn, in the order of a set of names."""

import torch
from torch import nn

TASKS = ("depth", "normals", "edges", "labels", "shading")


class ManyHeads(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.heads = nn.ModuleDict()
        for task in set(tasks):  # planted: initialisation
            self.heads[task] = nn.Linear(24, 2)

    def forward(self, rows):
        hidden = self.trunk(rows)
        return {task: self.heads[task](hidden) for task in TASKS}


torch.manual_seed(0)
model = ManyHeads(TASKS)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.randn(6, 16, 12):
    predicted = model(batch)
    loss = sum((predicted[task] - at).pow(2).mean() for at, task in enumerate(TASKS))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
