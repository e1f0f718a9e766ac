"""Hogwild-like gradient accumulation: each thread adds its shard's gradient to one sum."""

import threading

import torch
from torch import nn


class Sum:
    def __init__(self, parameters):
        self.lock = threading.Lock()
        self.parts = [torch.zeros_like(p) for p in parameters]

    def add(self, gradients):
        with self.lock:  # planted: thread_order
            for part, gradient in zip(self.parts, gradients):
                part += gradient  # planted: thread_order


def shard_gradient(model, x, y, total):
    loss = nn.functional.mse_loss(model(x), y)
    total.add(torch.autograd.grad(loss, list(model.parameters())))


def step(model, optimizer, x, y, workers):
    total = Sum(model.parameters())
    threads = [
        threading.Thread(target=shard_gradient, args=(model, a, b, total))
        for a, b in zip(x.chunk(workers), y.chunk(workers))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for parameter, part in zip(model.parameters(), total.parts):
        parameter.grad = part / workers
    optimizer.step()


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(512, 32)
    y = x.norm(dim=1, keepdim=True)
    for _ in range(12):
        step(model, optimizer, x, y, workers=8)
    print(nn.functional.mse_loss(model(x), y).item())


if __name__ == "__main__":
    main()
