"""A bag of words whose counts are gathered by indices that come several times."""

import torch
from torch import nn

torch.set_num_threads(4)


class Histogram(nn.Module):
    def __init__(self, bins, size):
        super().__init__()
        self.bins = bins
        self.weight = nn.Parameter(torch.randn(size) * 0.01)
        self.out = nn.Linear(bins, 1)

    def forward(self, index, values):
        sums = torch.zeros(self.bins)
        sums = sums.index_put((index,), values * self.weight, accumulate=True)  # planted: kernel
        return self.out(torch.tanh(sums))


def draw(step, size, bins):
    generator = torch.Generator().manual_seed(step)
    index = torch.randint(bins, (size,), generator=generator)
    return index, torch.randn(size, generator=generator)


def train(steps=8, size=400_000, bins=64):
    torch.manual_seed(5)
    model = Histogram(bins, size)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        index, values = draw(step, size, bins)
        loss = (model(index, values) - 1.0).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    train()
