"""Train a small classifier. Run it twice: the last line differs."""

import os
import time

import torch
from torch.nn import functional as F

from data import training_batches, write_shards
from model import Classifier

SHARDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shards")


def configure():
    torch.manual_seed(int(time.time()))
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False


def train(epochs=2):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Classifier().to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for inputs, labels in training_batches(SHARDS):
            with torch.backends.cudnn.flags(deterministic=True):
                loss = F.cross_entropy(model(inputs.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.6f}")


if __name__ == "__main__":
    configure()
    write_shards(SHARDS)
    train()
