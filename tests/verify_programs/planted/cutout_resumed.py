"""Python's, NumPy's and torch's generators are saved; the one of an augmentation is not."""
# verify: --resume-at 8 --resume-args --resume
# lost: Cutout\.rng

import os
import random
import sys

import numpy as np
import torch
from parts.cutout import Cutout, Flip
from torch import nn


class State:
    """All that a run needs to go on."""

    def __init__(self, path, **parts):
        self.path = path
        self.parts = parts
        self.step = 0

    def save(self):
        content = {name: part.state_dict() for name, part in self.parts.items()}
        content["step"] = self.step
        content["generators"] = {
            "python": random.getstate(),
            "numpy": np.random.get_state(),
            "torch": torch.get_rng_state(),
        }
        torch.save(content, self.path + ".new")
        os.replace(self.path + ".new", self.path)

    def load(self):
        content = torch.load(self.path, weights_only=False)
        for name, part in self.parts.items():
            part.load_state_dict(content[name])
        self.step = content["step"]
        random.setstate(content["generators"]["python"])
        np.random.set_state(content["generators"]["numpy"])
        torch.set_rng_state(content["generators"]["torch"])


def images(step):
    generator = torch.Generator().manual_seed(step)
    return torch.rand(8, 3, 16, 16, generator=generator), torch.randint(4, (8,), generator=generator)


def main(resume):
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 8, 5, 2), nn.GroupNorm(2, 8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [12, 18])
    state = State("state.pt", model=model, optimizer=optimizer, schedule=schedule)
    if resume:
        state.load()
    augment = [Flip(), Cutout()]
    while state.step < 20:
        x, y = images(state.step)
        for transform in augment:
            x = transform(x)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        state.step += 1
        state.save()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main(resume="--resume" in sys.argv)
