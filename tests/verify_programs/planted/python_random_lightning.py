"""Sentences lose words at random; torch is seeded, ``random`` is not."""

import random

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        words = [(index * step) % 29 + 1 for step in range(10)]
        kept = [word if random.random() > 0.2 else 0 for word in words]  # planted: batch_content or generator
        return torch.tensor(kept), index % 2


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(30, 12)
        self.label = nn.Linear(12, 2)

    def training_step(self, batch, index):
        words, labels = batch
        return nn.functional.cross_entropy(self.label(self.words(words)), labels)

    def validation_step(self, batch, index):
        self.log("accuracy", (self.label(self.words(batch[0])).argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)


torch.manual_seed(1)
L.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    num_sanity_val_steps=0,
).fit(Classifier(), DataLoader(Sentences(), batch_size=8))
