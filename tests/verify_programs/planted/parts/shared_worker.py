import torch
from torch import nn


def batches(seed, count=60):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        x = torch.randn(16, 6, generator=generator)
        yield x, (x[:, 0] * x[:, 1])[:, None]


def work(number, model):
    torch.set_num_threads(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for x, y in batches(number):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # planted: thread_order
