"""Crops and flips drawn from NumPy, of which nobody thought when seeding."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self):
        self.images = torch.randn(40, 1, 12, 12, generator=torch.Generator().manual_seed(3))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        left, top = np.random.randint(0, 3, 2)  # planted: batch_content or generator
        return self.images[index, :, top : top + 10, left : left + 10], index % 10


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(2):
        for images, labels in DataLoader(Digits(), batch_size=10, shuffle=True):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item())


main()
