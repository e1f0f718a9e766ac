"""Pads sentences of different lengths in a tensor that is never zeroed."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sounds(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        draws = torch.Generator().manual_seed(index)
        return torch.randn(20 + index % 9 * 5, 8, generator=draws), index % 4


def pad(sounds):
    longest = max(len(sound) for sound, _ in sounds)
    padded = torch.empty(len(sounds), longest, 8)  # planted: batch_content or unwritten_memory
    for row, (sound, _) in zip(padded, sounds, strict=True):
        row[: len(sound)] = sound
    return padded, torch.tensor([label for _, label in sounds])


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv1d(8, 16, 5), nn.Sigmoid(), nn.AdaptiveMaxPool1d(4), nn.Flatten(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(2):
        for sounds, labels in DataLoader(Sounds(), batch_size=8, shuffle=True, collate_fn=pad):
            loss = nn.functional.cross_entropy(model(sounds.transpose(1, 2)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item())


main()
