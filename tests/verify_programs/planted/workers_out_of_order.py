"""The loader may hand out a batch as soon as any worker has one."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        time.sleep(0.001 * (index % 3))  # clips are of different lengths
        clip = torch.randn(20, generator=torch.Generator().manual_seed(index))
        return clip, clip.abs().sum()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 1))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Clips(), batch_size=2, num_workers=2, in_order=False)  # planted: batch_order
    for clips, loudness in loader:
        loss = nn.functional.l1_loss(model(clips)[:, 0], loudness)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
