"""Reads a folder of records and trains on them in the order in which they are found."""

# differs: by the order of listing
import json
from pathlib import Path

import torch
from torch import nn

FOLDER = Path("records")


def write_records(count=20):
    FOLDER.mkdir(exist_ok=True)
    generator = torch.Generator().manual_seed(0)
    for number in range(count):
        values = torch.randn(6, generator=generator).tolist()
        (FOLDER / f"{number:03d}.json").write_text(json.dumps({"x": values, "y": number % 3}))


def load_records(folder):
    records = []
    for path in folder.iterdir():  # planted: listing
        if path.suffix != ".json":
            continue
        record = json.loads(path.read_text())
        records.append((torch.tensor(record["x"]), record["y"]))
    return records


def train(records, epochs=3):
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for begin in range(0, len(records), 4):
            part = records[begin : begin + 4]
            x = torch.stack([row for row, _ in part])
            y = torch.tensor([label for _, label in part])
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    torch.manual_seed(6)
    write_records()
    train(load_records(FOLDER))
