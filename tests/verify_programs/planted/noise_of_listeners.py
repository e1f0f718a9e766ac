"""Layers that a bus tells of each step draw their noise, in the order of a weak set."""

import weakref

import torch
from torch import nn


class Noisy(nn.Linear):
    def __init__(self, size, bus):
        super().__init__(size, size)
        self.register_buffer("noise", torch.zeros(size, size))
        bus.add(self)

    def on_step(self):
        self.noise.normal_(std=0.1)

    def forward(self, x):
        return nn.functional.linear(x, self.weight + self.noise, self.bias)


def publish(bus):
    for listener in bus:  # planted: object_address
        listener.on_step()


def main():
    torch.manual_seed(0)
    bus = weakref.WeakSet()
    model = nn.Sequential(*(Noisy(12, bus) for _ in range(6)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x in torch.randn(8, 16, 12):
        publish(bus)
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
