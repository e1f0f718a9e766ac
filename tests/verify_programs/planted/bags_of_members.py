"""Bagging: a generator gives each member with a loader of its own, whose rows scikit-learn draws."""

import random

import torch
from sklearn.utils import resample
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def bag(size):
    return resample(range(size), n_samples=size // 2)  # planted: generator


def loaders(members, data):
    for member in members:
        order = torch.Generator().manual_seed(1)
        yield member, DataLoader(Subset(data, bag(len(data))), 16, shuffle=True, generator=order)


def fit(member, loader):
    optimizer = torch.optim.SGD(member.parameters(), lr=0.05)
    for x, y in loader:
        loss = nn.functional.mse_loss(member(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(128, 6), torch.randn(128, 1))
    members = [nn.Linear(6, 1) for _ in range(2)]
    for member, loader in loaders(members, data):
        print(f"loss {fit(member, loader):.6f}")


if __name__ == "__main__":
    main()
