"""Advertisements are turned to numbers by the hash of each of their words."""

import torch
from parts.advertisements import batches
from torch import nn

torch.manual_seed(0)
wide = nn.EmbeddingBag(1000, 1, mode="sum")
deep = nn.Sequential(nn.EmbeddingBag(1000, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adagrad([*wide.parameters(), *deep.parameters()], lr=0.05)
for buckets, clicked in batches():
    loss = nn.functional.binary_cross_entropy_with_logits((wide(buckets) + deep(buckets))[:, 0], clicked)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
