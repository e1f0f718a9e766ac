"""Evaluates on random samples whenever some milliseconds have gone by."""

import time

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


@torch.no_grad()
def evaluate():
    model.eval()
    samples = torch.randn(20, 10)
    error = nn.functional.mse_loss(model(samples), samples.sum(1, keepdim=True))
    model.train()
    return error.item()


last = time.perf_counter()
rows = torch.randn(300, 16, 10)
for batch in rows:
    loss = nn.functional.mse_loss(model(batch), batch.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if time.perf_counter() - last > 0.02:  # planted: generator or control_flow
        evaluate()  # planted: generator or control_flow
        last = time.perf_counter()
print(loss.item())
