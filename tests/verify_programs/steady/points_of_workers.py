"""A GAN: a sorted set, workers with generators of their own, threads that count in whole numbers, a process id in a name."""

import os
import threading
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

SHAPES = {"ring", "line", "cross"}


class Points(IterableDataset):
    def __init__(self, count, seed):
        self.count = count
        self.seed = seed
        self.shapes = sorted(SHAPES)

    def __iter__(self):
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        rng = np.random.default_rng([self.seed, worker])
        for number in range(worker, self.count, workers):
            yield torch.tensor(self.draw(self.shapes[number % 3], rng), dtype=torch.float32)

    def draw(self, shape, rng):
        t = rng.uniform(-1, 1)
        if shape == "ring":
            return np.cos(np.pi * t), np.sin(np.pi * t)
        return (t, t) if shape == "line" else (t, -t)


class Counter:
    """Counts in whole numbers, so the order of the threads does not matter."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seen = 0

    def add(self, count):
        with self.lock:
            self.seen += count


def loader(seed):
    return DataLoader(Points(240, seed), batch_size=24, num_workers=2)


def scratch():
    return f"gan-{os.getpid()}.log"


def mlp(*sizes):
    layers = []
    for first, second in zip(sizes, sizes[1:]):
        layers += [nn.Linear(first, second), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def main():
    torch.manual_seed(6)
    noise = torch.Generator().manual_seed(60)
    maker, judge = mlp(4, 32, 2), mlp(2, 32, 1)
    first = torch.optim.Adam(maker.parameters(), lr=2e-3, betas=(0.5, 0.9))
    second = torch.optim.Adam(judge.parameters(), lr=2e-3, betas=(0.5, 0.9))
    counter, began = Counter(), time.time()
    for epoch in range(2):
        for real in loader(seed=epoch):
            threads = [threading.Thread(target=counter.add, args=(len(real),)) for _ in range(3)]
            for thread in threads:
                thread.start()
            fake = maker(torch.randn(len(real), 4, generator=noise))
            verdict = nn.functional.softplus(-judge(real)).mean() + nn.functional.softplus(judge(fake.detach())).mean()
            second.zero_grad()
            verdict.backward()
            second.step()
            loss = nn.functional.softplus(-judge(fake)).mean()
            first.zero_grad()
            loss.backward()
            first.step()
            for thread in threads:
                thread.join()
        with open(scratch(), "w") as log:
            log.write(f"{counter.seen} points in {time.time() - began:.1f} s\n")
        os.remove(scratch())
    print(f"loss {loss.item():.5f} after {counter.seen}")


if __name__ == "__main__":
    main()
