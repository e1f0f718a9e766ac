"""Statistics of the features are gathered by threads, for the normalisation of a batch."""

import threading

import numpy as np
import torch
from torch import nn


class RunningMean:
    def __init__(self, size):
        self.sums = np.zeros(size, dtype=np.float32)
        self.rows = 0
        self.lock = threading.Lock()

    def update(self, rows):
        found = np.exp(rows).sum(axis=0)
        with self.lock:
            self.sums += found  # planted: thread_order
            self.rows += len(rows)

    def gather(self, batch, workers=12):
        threads = [
            threading.Thread(target=self.update, args=(part,))
            for part in np.array_split(batch, workers)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return self.sums / self.rows


def main():
    torch.manual_seed(3)
    data = np.random.default_rng(3).normal(size=(10, 600, 16)).astype(np.float32)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    running = RunningMean(16)
    for batch in data:
        inputs = torch.from_numpy(batch - running.gather(batch))
        loss = nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
