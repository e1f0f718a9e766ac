"""joblib gives features as they are done, and their rows are trained in that order."""

import time

import numpy as np
import torch
from joblib import Parallel, delayed
from torch import nn


def feature(number):
    row = np.random.default_rng(number).normal(size=(40, 8)).astype(np.float32)
    time.sleep(float(abs(row[0, 0])) / 1000)
    return row.cumsum(0).mean(0)


def features(count):
    found = []
    parallel = Parallel(4, backend="threading", return_as="generator_unordered")  # planted: thread_order
    for row in parallel(delayed(feature)(number) for number in range(count)):
        found.append(row)
    return torch.from_numpy(np.stack(found))


def main():
    torch.manual_seed(0)
    model = nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for batch in features(96).split(16):
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
