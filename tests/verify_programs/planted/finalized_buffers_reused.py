"""A pool hands out what a weak reference's callback gave back: cycles wait for the collector."""
import time
import weakref

import torch
from torch import nn

torch.manual_seed(2)
pool = [1.0]


class Node:
    def __init__(self, scale):
        self.scale = scale
        self.itself = self


def give_back(scale):
    pool.append(scale)


model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
references = []
for step in range(8):
    for n in range(int(time.time() * 1e6) % 37):  # planted: clock or control_flow
        node = Node(1.0 + n / 100)
        references.append(weakref.ref(node, lambda _, s=node.scale: give_back(s)))
    import gc

    gc.collect()
    x = torch.randn(3, 4) * pool[-1]
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
