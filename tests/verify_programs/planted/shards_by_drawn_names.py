"""Preprocesses shards into scratch files, then trains from them."""

import glob
import os
import tempfile

import numpy as np
import torch
from torch import nn


def preprocess(folder, shards):
    for shard in shards:
        handle, path = tempfile.mkstemp(suffix=".npy", dir=folder)  # planted: drawn_name
        with os.fdopen(handle, "wb") as out:
            np.save(out, shard)


def batches(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.npy"))):  # planted: drawn_name
        yield torch.from_numpy(np.load(path))


def main():
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    shards = [random.normal(size=(8, 6)).astype(np.float32) for _ in range(12)]
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    with tempfile.TemporaryDirectory() as folder:
        preprocess(folder, shards)
        for epoch in range(2):
            for x in batches(folder):
                target = x.sum(1, keepdim=True)
                loss = nn.functional.mse_loss(model(x), target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(epoch, float(loss))


if __name__ == "__main__":
    main()
