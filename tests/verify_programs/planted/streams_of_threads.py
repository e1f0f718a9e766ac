"""Each thread makes a stream of its own when it first needs one."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn

own = threading.local()


def stream():
    if not hasattr(own, "stream"):
        own.stream = np.random.default_rng()  # planted: entropy
    return own.stream


def prepared(number):
    clean = np.cos(np.arange(8.0).reshape(2, 4) * number)
    return torch.from_numpy(clean + 0.1 * stream().standard_normal((2, 4))).float()


torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
with ThreadPoolExecutor(3) as pool:
    for epoch in range(2):
        for x in pool.map(prepared, range(8)):
            loss = (model(x) - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
