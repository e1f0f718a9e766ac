"""Slow steps get a smaller learning rate."""

import time

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Patient(L.Callback):
    def on_train_batch_start(self, trainer, module, batch, index):
        self.begin = time.perf_counter()

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        seconds = time.perf_counter() - self.begin
        for group in trainer.optimizers[0].param_groups:
            group["lr"] = 1e-2 / (1 + 10 * seconds)  # planted: hyperparameter


class Autoencoder(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(16, 4), nn.Linear(4, 16)

    def training_step(self, batch, index):
        return nn.functional.mse_loss(self.up(torch.relu(self.down(batch[0]))), batch[0])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-2)


L.seed_everything(0)
L.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    callbacks=[Patient()],
).fit(Autoencoder(), DataLoader(TensorDataset(torch.randn(64, 16)), batch_size=8, shuffle=True))
