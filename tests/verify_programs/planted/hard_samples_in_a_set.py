"""Contrastive learning with hard samples, which are gathered in a set of objects."""

import torch
from parts.hard_samples import Miner
from parts.mined_samples import collection
from torch import nn


def info_nce(first, second, temperature=0.2):
    first, second = nn.functional.normalize(first, dim=1), nn.functional.normalize(second, dim=1)
    logits = first @ second.T / temperature
    target = torch.arange(len(first))
    return (nn.functional.cross_entropy(logits, target) + nn.functional.cross_entropy(logits.T, target)) / 2


def main():
    torch.manual_seed(8)
    generator = torch.Generator().manual_seed(8)
    encoder = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 8))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=10)
    miner = Miner(collection())
    for epoch in range(6):
        for group in miner.rounds(encoder):
            first = torch.stack([sample.view(generator) for sample in group])
            second = torch.stack([sample.view(generator) for sample in group])
            loss = info_nce(encoder(first), encoder(second))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            warm.step()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
