"""Sequences of different lengths are padded into one buffer."""

import torch
from torch import nn


def pad(sequences, longest):
    shape = len(sequences), longest, sequences[0].shape[-1]
    batch = torch.empty(shape)  # planted: unwritten_memory
    lengths = torch.zeros(len(sequences), dtype=torch.long)
    for row, sequence in enumerate(sequences):
        batch[row, : len(sequence)] = sequence
        lengths[row] = len(sequence)
    return batch, lengths


class Encoder(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.inner = nn.LSTM(width, 12, batch_first=True)
        self.head = nn.Linear(12, 1)

    def forward(self, batch, lengths):
        states, _ = self.inner(batch)
        pooled = states.sum(1) / lengths[:, None]
        return self.head(pooled)


def main():
    torch.manual_seed(12)
    generator = torch.Generator().manual_seed(13)
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(15):
        lengths = torch.randint(3, 20, (16,), generator=generator).tolist()
        sequences = [torch.randn(length, 6, generator=generator) for length in lengths]
        batch, sizes = pad(sequences, 20)
        target = torch.stack([s.mean() for s in sequences])[:, None]
        loss = nn.functional.mse_loss(model(batch, sizes), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
