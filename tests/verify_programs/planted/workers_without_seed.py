"""Images are jittered in the loader's workers."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Images(Dataset):
    def __init__(self, count):
        self.pixels = np.random.default_rng(1).normal(size=(count, 1, 8, 8)).astype("float32")
        self.random = np.random.default_rng(2)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        image = self.pixels[index]
        shift = int(self.random.integers(0, 4))
        return torch.from_numpy(np.roll(image, shift, axis=2)), int(image.sum() > 0)


def start(worker):
    info = get_worker_info()
    info.dataset.random = np.random.default_rng()  # planted: entropy


def main():
    torch.manual_seed(8)
    loader = DataLoader(Images(64), batch_size=8, num_workers=2, shuffle=True, worker_init_fn=start)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
