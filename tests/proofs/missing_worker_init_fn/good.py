"""The same data set. Each worker gives the generator the seed that torch gave the worker."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noise:
    def __init__(self):
        self.rng = np.random.default_rng()

    def __call__(self, number):
        return number + self.rng.normal()


class Numbers(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.transform(index)


def seed_worker(worker):
    info = get_worker_info()
    info.dataset.transform.rng = np.random.default_rng(info.seed)


if __name__ == "__main__":
    torch.manual_seed(0)
    data = Numbers(Noise())
    for batch in DataLoader(data, batch_size=4, num_workers=2, worker_init_fn=seed_worker):
        print(batch.tolist())
