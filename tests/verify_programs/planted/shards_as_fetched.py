"""Train on shards that are fetched concurrently."""
import asyncio

import torch
from torch import nn

from parts.object_store import Bucket, download


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(24, 32)
        self.second = nn.Linear(32, 1)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x))).squeeze(-1)


def epochs(rows, count, size):
    for _ in range(count):
        order = torch.randperm(len(rows))
        yield from rows[order].split(size)


def main():
    torch.manual_seed(0)
    rows = torch.from_numpy(asyncio.run(download(Bucket(16))))
    model = Net()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for step, batch in enumerate(epochs(rows, 2, 256)):
        loss = nn.functional.mse_loss(model(batch[:, :-1]), batch[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"{step}: {loss.item():.8f}")


if __name__ == "__main__":
    main()
