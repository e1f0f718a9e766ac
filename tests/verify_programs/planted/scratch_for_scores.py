"""Scores are collected in a scratch tensor whose last rows nobody writes."""

import torch
from torch import nn


def padded(rows, size):
    scratch = torch.empty(size, rows.shape[1])  # planted: unwritten_memory
    scratch[: len(rows)] = rows
    return scratch


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(300, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for rows in torch.randn(6, 24, 300):
    inputs = padded(rows, 32)
    loss = (model(inputs) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
