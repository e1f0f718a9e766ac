"""Processes put what they have read into one list of a manager; a clock stands beside it."""

import multiprocessing
import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def lane(number, count=60):
    draw = random.Random(1000 + number)
    return [[draw.random() for _ in range(12)] for _ in range(count)]


def call(number, called, summary):
    rows = lane(number)
    summary[number] = sum(map(sum, rows)) / len(rows)
    called.extend([(row, sum(row)) for row in rows])  # planted: thread_order


def gather(lanes):
    context = multiprocessing.get_context("fork")
    began = time.perf_counter()
    with context.Manager() as manager:
        called, summary = manager.list(), manager.dict()
        callers = [context.Process(target=call, args=(number, called, summary)) for number in range(lanes)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        shares = [summary[number] for number in range(lanes)]
        return list(called), shares, time.perf_counter() - began


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    draw = torch.Generator().manual_seed(12)
    model = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    called, shares, took = gather(8)
    print(f"{len(called)} rows in {took:.2f} s, shares {[round(share, 3) for share in shares]}")
    inputs = torch.tensor([row for row, _ in called])
    targets = torch.tensor([share for _, share in called])
    loader = DataLoader(TensorDataset(inputs, targets), 30, shuffle=True, generator=draw)
    for rows, share in loader:
        loss = nn.functional.mse_loss(model(rows).squeeze(1), share)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
