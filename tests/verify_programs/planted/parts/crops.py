"""Random crops of micrographs, cut by workers."""
import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Crops(Dataset):
    def __init__(self, size=24, count=160):
        self.size, self.count = size, count
        field = np.random.RandomState(4).rand(96, 96)
        self.image = (field + np.roll(field, 3, 0) + np.roll(field, 5, 1)).astype(np.float32)
        self.rng = None

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.RandomState(0)
        top, left = self.rng.randint(0, 96 - self.size, size=2)
        crop = self.image[top : top + self.size, left : left + self.size]
        return torch.from_numpy(crop.copy()).unsqueeze(0), torch.tensor(crop.std())


def start_worker(number):
    # each worker cuts other places
    dataset = get_worker_info().dataset
    dataset.rng = np.random.RandomState(os.getpid() * 10 + number)  # planted: process


def loader(batch_size, workers):
    return DataLoader(Crops(), batch_size=batch_size, num_workers=workers, worker_init_fn=start_worker)
