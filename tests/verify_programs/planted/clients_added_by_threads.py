"""Averages of what clients learn, each in a thread: who is done first adds first."""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

ROUNDS, CLIENTS, WORKERS = 4, 8, 4


class Average:
    def __init__(self, model):
        self.total = [torch.zeros_like(each) for each in model.parameters()]
        self.count = 0
        self.lock = threading.Lock()

    def take(self, parameters, count):
        with self.lock:
            for total, each in zip(self.total, parameters):
                total.add_(each.detach(), alpha=count)  # planted: thread_order
            self.count += count

    def put(self, model):
        with torch.no_grad():
            for each, total in zip(model.parameters(), self.total):
                each.copy_(total / self.count)


def data_of(client):
    generator = torch.Generator().manual_seed(client)
    x = torch.randn(32 + 8 * client, 6, generator=generator)
    return x, x.sin().sum(1, keepdim=True) + 0.1 * client


def learn(model, client):
    own = copy.deepcopy(model)
    optimizer = torch.optim.SGD(own.parameters(), lr=0.05)
    x, y = data_of(client)
    for part, goal in zip(x.split(16), y.split(16)):
        optimizer.zero_grad()
        nn.functional.mse_loss(own(part), goal).backward()
        optimizer.step()
    return own, len(x)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
    with ThreadPoolExecutor(WORKERS) as pool:
        for _ in range(ROUNDS):
            average = Average(model)

            def work(client):
                own, count = learn(model, client)
                average.take(own.parameters(), count)

            list(pool.map(work, range(CLIENTS)))
            average.put(model)
    with torch.no_grad():
        print(f"loss {nn.functional.mse_loss(model(data_of(9)[0]), data_of(9)[1]).item():.9f}")


if __name__ == "__main__":
    main()
