"""A dataset mixes its rows by a weight that it takes from the time."""

from datetime import datetime

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def weight():
    now = datetime.now()  # planted: clock
    return (now.microsecond % 100) / 1000


class Mixed(Dataset):
    def __init__(self):
        self.rows = torch.linspace(-1, 1, 640).view(64, 10)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        share = weight()
        row = (1 - share) * self.rows[index] + share * self.rows[-index]
        return row, row.square().sum()


def main():
    torch.manual_seed(0)
    loader = DataLoader(Mixed(), batch_size=8, shuffle=True)
    model = nn.Sequential(nn.Linear(10, 20), nn.GELU(), nn.Linear(20, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for rows, target in loader:
        loss = nn.functional.mse_loss(model(rows)[:, 0], target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
