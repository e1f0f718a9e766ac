"""Each worker seeds NumPy with the time, so that no two augment alike."""

import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        wave = np.sin(np.arange(30) * (index + 1) / 30)
        noisy = wave + 0.1 * np.random.standard_normal(30)
        return torch.from_numpy(noisy).float(), torch.tensor(index / 32)


def seed_worker(worker):
    np.random.seed(time.time_ns() % 2**32)  # planted: batch_content or generator


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(30, 32), nn.GELU(), nn.Linear(32, 1))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    loader = DataLoader(Signals(), batch_size=8, num_workers=2, worker_init_fn=seed_worker)
    for _ in range(2):
        for noisy, frequency in loader:
            loss = nn.functional.mse_loss(model(noisy)[:, 0], frequency)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
