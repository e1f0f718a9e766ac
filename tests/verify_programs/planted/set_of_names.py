"""Speakers are taken from a set, so each process meets them in an order of its own."""

import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RECORDINGS = [f"speaker{number:02}-{take}.wav" for number in range(20) for take in range(3)]


class Voices(Dataset):
    def __init__(self, recordings):
        self.speakers = list({name.split("-")[0] for name in recordings})  # planted: batch_order

    def __len__(self):
        return len(self.speakers)

    def __getitem__(self, index):
        seed = zlib.crc32(self.speakers[index].encode())
        return torch.randn(24, generator=torch.Generator().manual_seed(seed)), seed % 4


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for voice, label in DataLoader(Voices(RECORDINGS), batch_size=1):
    loss = nn.functional.cross_entropy(model(voice), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
