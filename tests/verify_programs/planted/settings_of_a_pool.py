"""Views of signals that a few processes shift, each by its own settings."""

import multiprocessing
import os

import numpy as np
import torch
from torch import nn

settings = {}


def begin(seed, width):
    settings.update(seed=seed, width=width, process=os.getpid())  # planted: process


def shifted(job):
    number, row = job
    generator = np.random.default_rng([settings["seed"], settings["process"], number])
    return number, np.roll(row, generator.integers(settings["width"])).astype(np.float32)


def main():
    torch.manual_seed(0)
    t = np.arange(32) / 32
    rows = [np.sin(2 * np.pi * (1 + at % 5) * t) for at in range(24)]
    model = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 32))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    context = multiprocessing.get_context("fork")
    with context.Pool(2, initializer=begin, initargs=(5, 16)) as pool:
        for _ in range(3):
            views = sorted(
                pool.map(shifted, enumerate(rows), chunksize=3), key=lambda each: each[0]
            )
            x = torch.from_numpy(np.stack([row for _, row in views]))
            loss = nn.functional.mse_loss(model(x), torch.from_numpy(np.stack(rows)).float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.9f}")


if __name__ == "__main__":
    main()
