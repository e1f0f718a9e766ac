"""Attention with a bias, shared by its heads, that is looked up for each pair of positions."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width=16, heads=4, length=400):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.bias = nn.Parameter(torch.zeros(2 * length - 1))
        places = torch.arange(length)
        self.register_buffer("index", (places[:, None] - places[None] + length - 1).clamp(380, 420))

    def forward(self, rows):
        batch, length, width = rows.shape
        split = self.project(rows).view(batch, length, 3, self.heads, -1)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
        bias = self.bias[self.index]  # planted: kernel
        mixed = (scores + bias).softmax(-1) @ value
        return mixed.transpose(1, 2).reshape(batch, length, width)


class Block(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.attention = Attention(width)
        self.norm = nn.LayerNorm(width)
        self.rest = nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))

    def forward(self, rows):
        rows = rows + self.attention(rows)
        return rows + self.rest(self.norm(rows))


torch.manual_seed(0)
model = nn.Sequential(Block(), Block(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for rows in torch.randn(10, 2, 400, 16):
    loss = nn.functional.mse_loss(model(rows), rows.cumsum(1)[..., :1] / 10)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
