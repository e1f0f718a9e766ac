"""Losses summed up from zero."""

import torch

torch.manual_seed(0)

losses = torch.zeros(100)
for _ in range(3):
    losses += torch.rand(100)
print(losses.tolist())
