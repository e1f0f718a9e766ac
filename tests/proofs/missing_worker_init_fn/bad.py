"""A data set with a generator of its own. torch seeds its workers, but does not reach that one."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + self.rng.normal()


if __name__ == "__main__":
    torch.manual_seed(0)
    for batch in DataLoader(Noisy(), batch_size=4, num_workers=2):
        print(batch.tolist())
