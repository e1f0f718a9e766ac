"""Spoken digits: a convolution over frames, and a mean over time."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from parts.pad_frames import Pad


class Utterances(Dataset):
    def __init__(self, count=240, bands=20):
        generator = torch.Generator().manual_seed(1)
        self.items = []
        for number in range(count):
            length = int(torch.randint(20, 90, (), generator=generator))
            label = number % 10
            tone = torch.sin(torch.arange(length).unsqueeze(1) * (label + 1) / 9 + torch.arange(bands) / 5)
            self.items.append((tone + 0.1 * torch.randn(length, bands, generator=generator), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


class Recogniser(nn.Module):
    def __init__(self, bands=20, width=32):
        super().__init__()
        self.conv = nn.Conv1d(bands, width, kernel_size=5, padding=2)
        self.out = nn.Linear(width, 10)

    def forward(self, frames, lengths):
        frames = torch.nan_to_num(frames, nan=0.0, posinf=0.0, neginf=0.0).clamp(-4, 4)
        hidden = torch.relu(self.conv(frames.transpose(1, 2)))
        mask = (torch.arange(hidden.shape[2]) < lengths.unsqueeze(1)).unsqueeze(1)
        return self.out((hidden * mask).sum(2) / lengths.unsqueeze(1))


def main():
    torch.manual_seed(17)
    loader = DataLoader(Utterances(), batch_size=16, shuffle=True, collate_fn=Pad())
    model = Recogniser()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(3):
        for frames, lengths, labels in loader:
            loss = nn.functional.cross_entropy(model(frames, lengths), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.8f}")


if __name__ == "__main__":
    main()
