"""Reads the shards of a folder as the file system lists them."""
# differs: by the order of listing

import os
import tempfile

import torch
from torch import nn


def write_shards(folder, count=12):
    for number in range(count):
        rows = torch.Generator().manual_seed(number)
        torch.save(torch.randn(16, 6, generator=rows), os.path.join(folder, f"shard{number}.pt"))


def shards(folder):
    for name in os.listdir(folder):  # planted: batch_order
        yield torch.load(os.path.join(folder, name))


def main():
    torch.manual_seed(0)
    encoder, decoder = nn.Linear(6, 3), nn.Linear(3, 6)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder)
        for rows in shards(folder):
            loss = nn.functional.mse_loss(decoder(encoder(rows)), rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item())


main()
