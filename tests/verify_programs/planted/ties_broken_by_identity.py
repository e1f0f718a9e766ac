"""Active learning: the pool is ordered by uncertainty; ties are broken."""

from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass(eq=False)
class Example:
    number: int
    x: torch.Tensor = field(repr=False)
    y: torch.Tensor = field(repr=False)
    score: int = 0


def make_pool(count):
    generator = torch.Generator().manual_seed(0)
    pool = []
    for number in range(count):
        x = torch.randn(10, generator=generator)
        pool.append(Example(number, x, (x.sum() > 0).float()))
    return pool


def rank(pool, model):
    with torch.no_grad():
        for example in pool:
            example.score = int(10 * torch.sigmoid(model(example.x)).sub(0.5).abs())
    return sorted(pool, key=lambda example: (example.score, id(example)))  # planted: object_address


def fit(model, optimizer, chosen):
    x = torch.stack([example.x for example in chosen])
    y = torch.stack([example.y for example in chosen])
    loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(-1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    pool = make_pool(120)
    for turn in range(10):
        chosen = rank(pool, model)[:16]
        print(turn, fit(model, optimizer, chosen))
