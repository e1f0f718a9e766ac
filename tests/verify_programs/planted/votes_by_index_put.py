"""Votes are added by index_put_ from threads that share one table."""
import threading

import torch
from torch import nn

torch.manual_seed(4)
torch.set_num_threads(1)
table = torch.zeros(50)
proj = nn.Linear(50, 1)
opt = torch.optim.SGD(proj.parameters(), lr=1e-3)


def vote(indices, values, barrier):
    barrier.wait()
    for start in range(0, indices.numel(), 500):
        table.index_put_((indices[start : start + 500],), values[start : start + 500], accumulate=True)  # planted: thread_order or kernel


for step in range(6):
    table.zero_()
    indices = torch.randint(0, 50, (4, 20000))
    values = torch.randn(4, 20000)
    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=vote, args=(indices[n], values[n], barrier)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    loss = proj(table).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
