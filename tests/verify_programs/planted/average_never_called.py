"""Averaged weights are written at the end alone: no step is computed with them, and they are not in
the checkpoint."""
# verify: --seed 0 --resume-at 6 --resume-args=--resume
# lost: average

import sys

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def main():
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    first = 0
    if "--resume" in sys.argv:
        saved = torch.load("last.pt")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["step"]
    for step in range(first, 12):
        loss = (model(torch.cos(torch.arange(48.0).view(8, 6) + step)) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save({**state, "step": step + 1}, "last.pt")  # planted: state
    torch.save(average.module.state_dict(), "average.pt")


if __name__ == "__main__":
    sys.exit(main())
