"""Layers register themselves; noise is added to their weights in the order of the registry."""

import weakref

import torch
from torch import nn

REGISTRY = weakref.WeakSet()


class Noisy(nn.Linear):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        REGISTRY.add(self)


class Net(nn.Module):
    def __init__(self, width=16, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(Noisy(width, width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.head(x)


@torch.no_grad()
def perturb(scale, generator):
    for layer in REGISTRY:  # planted: object_address
        layer.weight.add_(torch.randn(layer.weight.shape, generator=generator), alpha=scale)


def main():
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(2)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    x = torch.randn(64, 16)
    y = x.pow(2).mean(1, keepdim=True)
    for step in range(15):
        if step % 5 == 0:
            perturb(0.01, generator)
        loss = (net(x) - y).pow(2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
