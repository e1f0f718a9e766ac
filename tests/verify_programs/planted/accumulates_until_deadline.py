"""Gathers gradients of as many batches as fit into a fifth of a second."""

import time

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.Softplus(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = iter(torch.randn(12000, 16, 8))
for _ in range(3):
    deadline = time.perf_counter() + 0.2
    optimizer.zero_grad()
    while True:
        batch = next(batches)
        loss = nn.functional.mse_loss(model(batch), batch.norm(dim=1, keepdim=True))
        loss.backward()
        if time.perf_counter() > deadline:  # planted: control_flow or batch_content or batch_order
            break
    optimizer.step()
print(loss.item())
