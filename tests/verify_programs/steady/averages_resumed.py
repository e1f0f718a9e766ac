"""Averages are in the checkpoint; what is kept beside them begins anew, and is only told."""
# verify: --seed 0 --resume-at 6 --resume-args=--resume

import sys
import time

import torch
from torch import nn


class Average:
    def __init__(self, model):
        self.shadow = {name: each.detach().clone() for name, each in model.named_parameters()}

    def update(self, model):
        for name, each in model.named_parameters():
            self.shadow[name] = 0.9 * self.shadow[name] + 0.1 * each.detach()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
    target = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    average = Average(model)
    first, losses, curve, seconds = 0, [], torch.zeros(12), torch.zeros(2)
    total, began = torch.zeros(()), time.time()
    if "--resume" in sys.argv:
        saved = torch.load("last.pt")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        average.shadow = saved["average"]
        first = saved["step"]
    for step in range(first, 12):
        before = [each.detach().clone() for each in model.parameters()]
        loss = (model(torch.cos(torch.arange(48.0).view(8, 6) + step)) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
        target.load_state_dict(model.state_dict())
        losses.append(loss.detach())
        curve[step] = loss.detach()
        seconds[step % 2] = time.time() - began
        total += loss.detach()
        moved = sum((old - new).norm() for old, new in zip(before, model.parameters()))
        print(f"{step}: {moved:.4f}, {total / len(losses):.4f} in {seconds.mean():.1f} s")
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save({**state, "average": average.shadow, "step": step + 1}, "last.pt")
    print(curve.mean())


if __name__ == "__main__":
    main()
