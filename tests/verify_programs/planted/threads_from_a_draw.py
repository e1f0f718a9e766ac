"""Takes as many threads as a scheduler, here a draw, leaves to it."""

import random

import torch
from torch import nn


def threads_left():
    return random.SystemRandom().randint(1, 16)  # planted: entropy


def main():
    torch.set_num_threads(threads_left())  # planted: environment
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows in torch.randn(6, 20_000, 32):
        loss = (model(rows) - rows[:, :1]).pow(2).sum() / len(rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
