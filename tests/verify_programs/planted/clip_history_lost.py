"""A GRU on synthetic music, with a checkpoint every 10 steps."""
# verify: --resume-at 15 --resume-args "--resume last.pt"
# lost: (?i)norms|clip
import argparse

import torch
from torch import nn

from parts.whole_checkpoint import load, save
from parts.auto_clip import AutoClip


class Melody(nn.Module):
    def __init__(self, notes=16, width=24):
        super().__init__()
        self.embed = nn.Embedding(notes, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, notes)

    def forward(self, notes):
        return self.out(self.gru(self.embed(notes))[0])


def phrase():
    start = torch.randint(16, (8, 1))
    return (start + torch.arange(17) * torch.randint(1, 4, (8, 1))) % 16


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    torch.manual_seed(31)
    model = Melody()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)
    clip = AutoClip(model.parameters())
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    begin = load(args.resume, **parts) if args.resume else 0
    for step in range(begin, args.steps):
        notes = phrase()
        loss = nn.functional.cross_entropy(model(notes[:, :-1]).flatten(0, 1), notes[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        clip()
        optimizer.step()
        schedule.step()
        if step % 10 == 9:
            print(f"step {step + 1} loss {loss.item():.8f}")
            save("last.pt", step + 1, **parts)


if __name__ == "__main__":
    main()
