"""Each worker makes a generator for its noise when it first needs one, and gives it no seed."""

import argparse

import numpy as np
import torch
from parts.wave_augmentations import Chain, Gain, Noise, Shift
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tones(Dataset):
    def __init__(self, count, transform):
        self.count = count
        self.transform = transform

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        label = index % 5
        time = np.linspace(0, 1, 256)
        wave = np.sin(2 * np.pi * (3 + 2 * label) * time)
        wave = self.transform(wave)
        return torch.as_tensor(wave, dtype=torch.float32)[None], label


def loader(batch_size=16, workers=2):
    generator = torch.Generator().manual_seed(0)
    dataset = Tones(96, Chain(Gain(), Shift(), Noise()))
    return DataLoader(dataset, batch_size, shuffle=True, num_workers=workers, generator=generator)


def network():
    return nn.Sequential(
        nn.Conv1d(1, 8, 9, stride=4), nn.BatchNorm1d(8), nn.ReLU(),
        nn.Conv1d(8, 16, 9, stride=4), nn.ReLU(),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 5),
    )


def train(epochs):
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    batches = loader()
    for epoch in range(epochs):
        correct = seen = 0
        for wave, label in batches:
            logits = model(wave)
            loss = nn.functional.cross_entropy(logits, label, label_smoothing=0.1)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            correct += (logits.argmax(1) == label).sum().item()
            seen += len(label)
        print(f"epoch {epoch}: {correct / seen:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(1)
    np.random.seed(1)
    train(options.epochs)
