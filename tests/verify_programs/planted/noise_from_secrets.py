"""The seed of the noise comes from the system, and is printed nowhere."""

import secrets

import numpy as np
import torch
from torch import nn


def fresh_seed():
    return secrets.randbits(32)  # planted: entropy


torch.manual_seed(0)
noise = np.random.default_rng(fresh_seed())
batches = []
for rows in torch.randn(8, 16, 8):
    drawn = torch.from_numpy(noise.normal(size=(16, 8)))
    batches.append(rows + 0.1 * drawn.float())
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in batches:
    loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
