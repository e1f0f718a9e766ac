"""Buffers are given back when they are collected, and the next takes the last that came back."""

import gc
import threading

import torch
from torch import nn

free = []


class Buffer:
    def __init__(self, number):
        self.number = number
        self.own = self  # a circle: only the collector frees it

    def __del__(self):
        free.append(self.number)  # planted: collection


def collector(stop):
    while not stop.wait(0.002):
        gc.collect()  # planted: collection


torch.manual_seed(0)
scale = torch.linspace(0.5, 1.5, 64)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
stop = threading.Event()
thread = threading.Thread(target=collector, args=(stop,), daemon=True)
thread.start()
number = 0
for rows in torch.randn(200, 16, 8):
    number = free.pop() if free else number + 1
    buffer = Buffer(number % 64)
    loss = nn.functional.mse_loss(model(rows) * scale[buffer.number], rows.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
stop.set()
thread.join()
print(loss.item())
