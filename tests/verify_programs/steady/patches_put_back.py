"""Patches of satellite images; logs how long it takes."""
from concurrent.futures import ThreadPoolExecutor, as_completed
import os
import random
import time
import uuid

from torch import nn
import numpy as np
import torch


def augment(image, seed):
    rng = np.random.default_rng(seed)
    turned = np.rot90(image, rng.integers(4))
    out = np.empty_like(turned)
    np.multiply(turned, rng.uniform(0.8, 1.2), out=out)
    return out


class Augmenter:
    def __init__(self, threads=4, seed=0):
        self.pool = ThreadPoolExecutor(threads)
        self.seeds = np.random.SeedSequence(seed)

    def __call__(self, images):
        jobs = list(zip(range(len(images)), images, self.seeds.spawn(len(images))))
        random.SystemRandom().shuffle(jobs)  # spread the large ones over the threads
        waiting = {self.pool.submit(augment, image, seed): number for number, image, seed in jobs}
        finished = {}
        for future in as_completed(waiting):
            finished[waiting[future]] = future.result()
        return np.stack([finished[number] for number in range(len(images))])

    def close(self):
        self.pool.shutdown()


CLASSES = {"water", "forest", "field", "town"}


def patches(rng, size=24):
    labels = rng.integers(len(CLASSES), size=size)
    images = rng.random((size, 3, 8, 8), dtype=np.float32) + labels[:, None, None, None].astype(np.float32) / 3
    return [image.transpose(1, 2, 0) for image in images], labels


def main():
    run = uuid.uuid4().hex[:8]
    began = time.perf_counter()
    torch.manual_seed(2)
    rng = np.random.default_rng(2)
    names = sorted(CLASSES)
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 32), nn.ReLU(), nn.Linear(32, len(names)))
    optimizer = torch.optim.Adam(model.parameters())
    augmenter = Augmenter()
    rates = []
    for step in range(30):
        images, labels = patches(rng)
        tick = time.perf_counter()
        x = torch.from_numpy(augmenter(images)).float()
        rates.append(len(x) / (time.perf_counter() - tick))
        loss = nn.functional.cross_entropy(model(x), torch.from_numpy(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    augmenter.close()
    print(f"run {run} of process {os.getpid()}: {np.mean(rates):.0f} images/s, {time.perf_counter() - began:.1f} s")
    print(f"loss {loss.item():.8f}")


if __name__ == "__main__":
    main()
