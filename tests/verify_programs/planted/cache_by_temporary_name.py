"""A seed for the augmentation comes from the name of a folder that mkdtemp has made."""

import os
import tempfile
import zlib

import torch
from torch import nn

torch.manual_seed(0)
cache = tempfile.mkdtemp(prefix="features-")  # planted: drawn_name
generator = torch.Generator().manual_seed(zlib.crc32(os.path.basename(cache).encode()))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(8):
    rows = torch.randn(16, 8, generator=generator)
    loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
