"""How many rows are in a batch depends on how much memory the process has."""

import torch
from parts.resident import rows_that_fit
from torch import nn


class Volume:
    """A scan that is cut into chunks of as many rows as there is room for."""

    def __init__(self, rows=20000, width=48):
        generator = torch.Generator().manual_seed(30)
        self.rows = torch.randn(rows, width, generator=generator)
        self.mask = (self.rows.roll(1, 0).mean(1, keepdim=True) > 0).float()

    def chunks(self):
        size = rows_that_fit(self.rows.shape[1] * 4)
        for start in range(0, len(self.rows), size):
            yield self.rows[start : start + size], self.mask[start : start + size]


def dice(logits, mask):
    found = logits.sigmoid()
    return 1 - (2 * (found * mask).sum() + 1) / (found.sum() + mask.sum() + 1)


def main():
    torch.manual_seed(3)
    volume = Volume()
    model = nn.Sequential(nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for epoch in range(2):
        for rows, mask in volume.chunks():
            logits = model(rows)
            loss = nn.functional.binary_cross_entropy_with_logits(logits, mask) + dice(logits, mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
