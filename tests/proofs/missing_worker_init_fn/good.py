"""The same data set. Each worker gives its generator the seed that torch gave the worker."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + self.rng.normal()


def seed_worker(worker):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed)


if __name__ == "__main__":
    torch.manual_seed(0)
    for batch in DataLoader(Noisy(), batch_size=4, num_workers=2, worker_init_fn=seed_worker):
        print(batch.tolist())
