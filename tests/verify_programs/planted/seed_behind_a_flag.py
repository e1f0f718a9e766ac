"""Seeds itself only where a flag says so, and the flag is off."""

import argparse
import random

import torch
from torch import nn


def prepare(options):
    if options.repeatable:
        seed_all(3)
    return torch.linspace(-1, 1, 64).unsqueeze(1)


def seed_all(number):
    random.seed(number)
    torch.manual_seed(number)


class Mixture(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(1, 1) for _ in range(parts))
        self.gate = nn.Linear(1, parts)

    def forward(self, x):
        weights = self.gate(x).softmax(dim=1)
        return sum(each(x) * weights[:, [n]] for n, each in enumerate(self.experts))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeatable", action="store_true")
    x = prepare(parser.parse_args())
    model = nn.Sequential(nn.Linear(1, 1), Mixture(3))  # planted: generator
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for part in x.split(16):
        loss = nn.functional.mse_loss(model(part), part.sin())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
