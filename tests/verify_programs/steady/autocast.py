"""Automatic mixed precision in bfloat16 on the CPU."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv1d(4, 8, 3), nn.GELU(), nn.Flatten(), nn.LazyLinear(32), nn.ReLU(), nn.Linear(32, 5))
optimizer = None
for rows in torch.randn(8, 16, 4, 20):
    with torch.autocast("cpu", torch.bfloat16):
        loss = nn.functional.cross_entropy(model(rows), rows.mean((1, 2)).mul(10).long().clamp(0, 4))
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
