"""A pool calls back with each page as it is done."""

import multiprocessing

import torch
from torch import nn


def fetch(number):
    draw = torch.Generator().manual_seed(number)
    return torch.randn(5, 8, generator=draw).tolist()


class Crawl:
    def __init__(self):
        self.rows = []

    def took(self, rows):
        self.rows += rows  # planted: thread_order

    def run(self, count=24):
        with multiprocessing.get_context("fork").Pool(4) as pool:
            for number in range(count):
                pool.apply_async(fetch, (number,), callback=self.took)
            pool.close()
            pool.join()
        return torch.tensor(self.rows)


def main():
    torch.manual_seed(13)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for rows in Crawl().run().split(20):
        loss = nn.functional.mse_loss(model(rows), rows.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
