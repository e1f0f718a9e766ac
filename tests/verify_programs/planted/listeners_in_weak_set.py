"""Augmentations are kept in a WeakSet, and applied as it gives them."""

import weakref

import torch
from torch import nn


class Augmentation:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, rows):
        return torch.tanh(rows * self.factor + 0.1)


kept = [Augmentation(1 + 0.1 * number) for number in range(12)]
registry = weakref.WeakSet(kept)

torch.manual_seed(0)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in torch.randn(8, 16, 8):
    inputs = rows
    for augmentation in registry:  # planted: object_address
        inputs = augmentation.apply(inputs)
    loss = nn.functional.mse_loss(model(inputs), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
