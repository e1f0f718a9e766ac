"""Samples that are still hard are kept in a set of objects, and a batch is made of them."""

import torch
from torch import nn


class Sample:
    def __init__(self, features):
        self.features = features
        self.target = features.sin().sum()


torch.manual_seed(1)
pool = [Sample(row) for row in torch.randn(60, 6)]
hard = set(pool)
model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    batch = []
    for sample in hard:  # planted: object_address
        batch.append(sample)
        if len(batch) == 12:
            loss = nn.functional.mse_loss(
                model(torch.stack([each.features for each in batch]))[:, 0],
                torch.stack([each.target for each in batch]),
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            batch = []
print(loss.item())
