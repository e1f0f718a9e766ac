"""A data set whose transform holds a generator. torch seeds its workers, but does not reach it."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


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


if __name__ == "__main__":
    torch.manual_seed(0)
    for batch in DataLoader(Numbers(Noise()), batch_size=4, num_workers=2):
        print(batch.tolist())
