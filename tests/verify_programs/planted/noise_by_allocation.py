"""A denoising autoencoder for vibration signals."""
import math

import torch
from torch import nn

from parts.allocation import Allocation, Annealing


def signals(count, length, generator):
    t = torch.linspace(0, 1, length)
    for _ in range(count):
        frequency = 2 + 10 * torch.rand(16, 1, generator=generator)
        phase = 2 * math.pi * torch.rand(16, 1, generator=generator)
        yield torch.sin(2 * math.pi * frequency * t + phase)


def corrupted(batches, noise, generator):
    for clean in batches:
        level = noise()
        yield clean + level * torch.randn(clean.shape, generator=generator), clean


def build(length):
    return nn.Sequential(
        nn.Linear(length, 64),
        nn.LayerNorm(64),
        nn.SiLU(),
        nn.Linear(64, 16),
        nn.SiLU(),
        nn.Linear(16, length),
    )


def train(model, stream, optimizer, report=25):
    for step, (noisy, clean) in enumerate(stream):
        loss = nn.functional.mse_loss(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % report == report - 1:
            print(f"step {step + 1} loss {loss.item():.8f}")


def main():
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(8)
    allocation = Allocation(seconds=3.0).start()
    model = build(128)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    stream = corrupted(signals(100, 128, generator), Annealing(allocation), generator)
    train(model, stream, optimizer)


if __name__ == "__main__":
    main()
