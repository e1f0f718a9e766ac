"""Sorted files of a temporary folder, read by threads in order; a UUID and a time in the log."""

import glob
import logging
import os
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn


def write_images(folder, count=48):
    rng = np.random.default_rng(12)
    for number in range(count):
        image = rng.integers(0, 256, (3, 12, 12), dtype=np.uint8)
        image[number % 3] //= 2
        np.save(os.path.join(folder, f"{number:03d}-{number % 3}.npy"), image)


def read(path):
    label = int(path.rsplit("-", 1)[1].removesuffix(".npy"))
    return torch.from_numpy(np.load(path)).float() / 255, label


def images():
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder)
        paths = sorted(glob.glob(os.path.join(folder, "*.npy")))
        with ThreadPoolExecutor(4) as pool:
            pairs = list(pool.map(read, paths))
    return torch.stack([image for image, _ in pairs]), torch.tensor([label for _, label in pairs])


class Average:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.shadow = {name: value.detach().clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                self.shadow[name].lerp_(value, 1 - self.decay)


log = logging.getLogger("train")


def network():
    return nn.Sequential(
        nn.Conv2d(3, 12, 3, padding=1), nn.BatchNorm2d(12), nn.SiLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1), nn.SiLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Dropout(0.1), nn.Linear(96, 3),
    )


def main():
    logging.basicConfig(level=logging.INFO)
    run = uuid.uuid4().hex[:8]
    torch.manual_seed(5)
    x, y = images()
    model = network()
    average = Average(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    for epoch in range(4):
        began = time.perf_counter()
        for index in torch.randperm(len(x)).split(12):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(model(x[index]), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            average.update(model)
        schedule.step()
        log.info("%s (%d) epoch %d: %.4f in %.2f s", run, os.getpid(), epoch, loss.item(), time.perf_counter() - began)
    model.load_state_dict(average.shadow)
    model.eval()
    with torch.no_grad():
        print(f"accuracy {(model(x).argmax(1) == y).float().mean():.3f}")


if __name__ == "__main__":
    main()
