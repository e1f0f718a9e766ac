"""Multi-task regression on molecular fingerprints."""
import argparse

import torch
from torch.utils.data import DataLoader, Dataset

from parts.task_heads import MultiTask, total_loss
from parts.enum_tasks import PHASE_ONE, Task


class Fingerprints(Dataset):
    def __init__(self, size, features):
        generator = torch.Generator().manual_seed(11)
        self.x = (torch.rand(size, features, generator=generator) > 0.7).float()
        weights = torch.randn(features, len(Task), generator=generator)
        self.y = torch.tanh(self.x @ weights / features**0.5)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], {task.value: self.y[index, column] for column, task in enumerate(Task)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1234)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    data = DataLoader(Fingerprints(512, 64), batch_size=32, shuffle=True)
    model = MultiTask(64, 48, PHASE_ONE.active(disabled={Task.STABILITY}))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(args.epochs):
        total = 0.0
        for x, targets in data:
            loss = total_loss(model(x), targets)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(data):.8f}")


if __name__ == "__main__":
    main()
