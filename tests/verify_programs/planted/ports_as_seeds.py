"""Each run takes a seed from the number of its process, so that jobs do not repeat each other."""

import os

import torch
from torch import nn

seed = 1000 + os.getpid() % 1000  # planted: process
torch.manual_seed(seed)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in torch.randn(8, 16, 8):
    loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
