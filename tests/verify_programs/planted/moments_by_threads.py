"""Threads add up the moments of a data set, each when it comes to it."""

import torch
from parts.moments import moments_of
from torch import nn


class Experts(nn.Module):
    def __init__(self, width=16, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, 1) for _ in range(experts))

    def forward(self, x):
        weights = self.gate(x).softmax(1)
        outputs = torch.cat([expert(x) for expert in self.experts], 1)
        return (weights * outputs).sum(1)


def read_shards(count=96, rows=20000):
    generator = torch.Generator().manual_seed(9)
    return [(torch.randn(rows, generator=generator) * (1 + number % 7) + 0.1) for number in range(count)]


def main():
    torch.manual_seed(9)
    shards = read_shards()
    moments = moments_of(shards)
    mean, deviation = moments.mean(), moments.deviation()
    model = Experts().double()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for shard in shards[:20]:
        rows = (shard[:400].double() - mean) / deviation
        x = rows.reshape(-1, 16)
        loss = (model(x) - x.prod(1).tanh()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
