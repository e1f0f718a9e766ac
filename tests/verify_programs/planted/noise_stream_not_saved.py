"""Denoising autoencoder that can go on from its checkpoint."""

# verify: --resume-at 9 --resume-args="--resume last.pt"
# lost: generator|stream|noise
import argparse
import os

import torch
from torch import nn


class Noise:
    """Corrupts a batch; strength comes from its own stream."""

    def __init__(self, seed):
        self.stream = torch.Generator().manual_seed(seed)

    def __call__(self, batch):
        strength = torch.rand(len(batch), 1, generator=self.stream)  # planted: state
        return batch + strength * 0.1


def build():
    return nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 12))


def save(path, model, optimizer, scheduler, step):
    torch.save(  # planted: state
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "step": step,
        },
        path,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    torch.manual_seed(3)
    data = torch.randn(256, 12)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 30)
    noise = Noise(11)
    first = 0
    if args.resume and os.path.exists(args.resume):
        state = torch.load(args.resume)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        first = state["step"]
    for step in range(first, args.steps):
        batch = data[(step * 16) % 256 : (step * 16) % 256 + 16]
        loss = nn.functional.mse_loss(model(noise(batch)), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        save("last.pt", model, optimizer, scheduler, step + 1)
    print(loss.item())


if __name__ == "__main__":
    main()
