"""Blocks are initialised in the order of their addresses."""

import torch
from torch import nn

torch.manual_seed(0)
blocks = [nn.Linear(12, 12) for _ in range(10)]
for block in sorted(blocks, key=lambda each: id(each)):  # planted: object_address
    nn.init.orthogonal_(block.weight)
model = nn.Sequential(*blocks)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for rows in torch.randn(8, 16, 12):
    loss = (model(rows) - rows).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
