"""A part of the inputs is masked by the number of the experiment."""

import uuid

import torch
from torch import nn

experiment = uuid.uuid4().hex  # planted: entropy
masked = {int(digit, 16) for digit in experiment[:4]}

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in torch.randn(8, 16, 16):
    inputs = rows.clone()
    inputs[:, sorted(masked)] = 0
    loss = nn.functional.mse_loss(model(inputs), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
