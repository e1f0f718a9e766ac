"""Sets, listings, threads and clocks, each used so that nothing depends on their order."""

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

NAMES = {f"part{number}" for number in range(10)}


def read(path):
    time.sleep(0.001)
    return torch.load(path)


def main():
    torch.manual_seed(0)
    begin = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            rows = torch.Generator().manual_seed(int(name.removeprefix("part")))
            torch.save(torch.randn(16, 6, generator=rows), os.path.join(folder, name))
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(read, paths))
    model = nn.Sequential(nn.Linear(6, 12), nn.Hardswish(), nn.Linear(12, 6))
    optimizer = torch.optim.NAdam(model.parameters(), lr=0.01)
    for _ in range(2):
        for part in parts:
            loss = nn.functional.mse_loss(model(part), part)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item(), f"after {time.time() - begin:.2f} s, process {os.getpid()}")


main()
