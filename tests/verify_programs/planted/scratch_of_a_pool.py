"""Processes of a pool draw folders, by whose names some of their parts are left out."""

import multiprocessing
import os
import tempfile
import zlib

import torch
from torch import nn


def spill(number):
    folder = tempfile.mkdtemp(prefix="part-")  # planted: drawn_name
    x = torch.cos(torch.arange(8.0).view(2, 4) * number)
    torch.save(x, os.path.join(folder, "x.pt"))
    return folder


def is_kept(folder):
    return zlib.crc32(os.path.basename(folder).encode()) % 3 > 0


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with multiprocessing.Pool(2) as pool:
        folders = pool.map(spill, range(12))
    for folder in folders:
        if not is_kept(folder):
            continue
        x = torch.load(os.path.join(folder, "x.pt"))
        loss = (model(x) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
