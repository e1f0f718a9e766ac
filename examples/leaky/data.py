"""Sequences of two classes, from a folder of shards."""

import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def write_shards(folder, shards=4, per_shard=64):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng()
    for shard in range(shards):
        labels = rng.integers(0, 2, per_shard)
        inputs = rng.normal(labels[:, None, None], 2.0, (per_shard, 16, 8))
        np.savez(os.path.join(folder, f"{shard}.npz"), inputs=inputs, labels=labels)


class Sequences(Dataset):
    def __init__(self, folder):
        self.inputs, self.labels = [], []
        for name in os.listdir(folder):
            with np.load(os.path.join(folder, name)) as shard:
                self.inputs.extend(shard["inputs"])
                self.labels.extend(shard["labels"])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        inputs = torch.as_tensor(self.inputs[index], dtype=torch.float32)
        return inputs, int(self.labels[index])


def training_batches(folder, batch_size=32):
    return DataLoader(Sequences(folder), batch_size=batch_size, shuffle=True, num_workers=4)
