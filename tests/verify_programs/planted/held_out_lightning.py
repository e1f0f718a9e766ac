"""What is not held out is the difference of two sets of names."""

import zlib

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EVERYTHING = {f"case-{number}" for number in range(64)}
HELD_OUT = {f"case-{number}" for number in range(0, 64, 5)}


def features(name):
    return torch.randn(8, generator=torch.Generator().manual_seed(zlib.crc32(name.encode())))


class Cases(L.LightningDataModule):
    def train_dataloader(self):
        names = list(EVERYTHING - HELD_OUT)  # planted: batch_order or batch_content
        rows = torch.stack([features(name) for name in names])
        return DataLoader(TensorDataset(rows, rows.sum(1, keepdim=True)), batch_size=8)


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1))

    def training_step(self, batch, index):
        rows, sums = batch
        return nn.functional.mse_loss(self.layers(rows), sums)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


L.seed_everything(1)
L.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(Regression(), Cases())
