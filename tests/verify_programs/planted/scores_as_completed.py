"""Scores of the shards are added up in the order in which workers are done with them."""

import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from torch import nn


def score(rows):
    time.sleep(float(rows.abs().mean()) % 0.003)
    return rows.exp().mean()


torch.manual_seed(0)
batches = []
for data in torch.randn(6, 12, 16, 8):
    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(score, shard) for shard in data]
        total = torch.zeros(())
        for job in as_completed(jobs):  # planted: readiness or thread_order
            total = total + job.result()  # planted: readiness or thread_order
    batches.append(data[0] * total)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in batches:
    loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
