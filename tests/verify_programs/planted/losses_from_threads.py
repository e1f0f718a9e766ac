"""The parts of a loss are computed in threads and added as they are done."""

import threading

import torch
from torch import nn


class PartsOfLoss:
    def __init__(self, model):
        self.model = model
        self.lock = threading.Lock()

    def add(self, rows):
        part = nn.functional.smooth_l1_loss(self.model(rows), rows.sin().sum(1, keepdim=True))
        with self.lock:
            self.total = self.total + part  # planted: kernel

    def __call__(self, batch):
        self.total = torch.zeros(())
        threads = [threading.Thread(target=self.add, args=(rows,)) for rows in batch.chunk(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.total / len(threads)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 1))
loss_of = PartsOfLoss(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for batch in torch.randn(10, 1600, 20):
    loss = loss_of(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
