"""A transform jitters its rows by the fraction of the second in which it is called."""

import time

import torch
from torch import nn


def jitter(rows):
    shift = time.time() % 1  # planted: clock
    return rows + 0.01 * shift


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in torch.randn(8, 16, 8):
    loss = nn.functional.mse_loss(model(jitter(rows)), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
