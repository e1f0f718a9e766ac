"""Losses summed up from whatever the memory held."""

import torch

torch.manual_seed(0)

losses = torch.empty(100)
for _ in range(3):
    losses += torch.rand(100)
print(losses.tolist())
