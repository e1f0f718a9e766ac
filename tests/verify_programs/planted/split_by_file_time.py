"""A split by the hash of a version, which is the time at which the cache was written."""

import zlib
from pathlib import Path

import numpy as np
import torch
from torch import nn

CACHE = Path("windows.npy")


def version():
    return f"{CACHE.name}@{CACHE.stat().st_mtime_ns}"  # planted: clock


def rows(windows):
    key = version()
    return [n for n in range(len(windows)) if zlib.crc32(f"{key}/{n}".encode()) % 10 < 8]


def main():
    torch.manual_seed(0)
    np.save(CACHE, np.sin(np.arange(1600, dtype=np.float32)).reshape(100, 16))
    windows = torch.from_numpy(np.load(CACHE))
    model = nn.Linear(16, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in windows[rows(windows)].split(16):
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
