"""Layers are spread over learning rates by the hash of an object."""

import torch
from parts.layer_groups import spread
from torch import nn


def model(depth=6, width=16):
    layers = [nn.Linear(8, width), nn.Tanh()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(width, 1))


def main():
    torch.manual_seed(0)
    net = model()
    optimizer = torch.optim.SGD(spread(net), lr=0.1)
    for step in range(12):
        x = torch.randn(32, 8)
        loss = (net(x)[:, 0] - x.square().sum(1).sqrt()).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
