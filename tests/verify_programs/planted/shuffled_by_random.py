"""Batches are shuffled by Python's own generator, which nobody has seeded."""

import random

import torch
from torch import nn

torch.manual_seed(0)
batches = list(torch.randn(8, 16, 8))
random.shuffle(batches)  # planted: generator
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in batches:
    loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
