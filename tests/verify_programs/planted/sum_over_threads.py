"""Shards of a batch are scored in a pool, and each adds what it found to one sum."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
total = torch.zeros(())


def score(rows):
    global total
    error = (model(rows) - rows.cos().sum(1, keepdim=True)).detach().abs().mean()
    total = total + error  # planted: thread_order


for batch in torch.randn(12, 2400, 24):
    total = torch.zeros(())
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(score, batch.chunk(24)))
    loss = nn.functional.mse_loss(model(batch), batch.cos().sum(1, keepdim=True)) * total
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
