"""Writes only the rows that a mask selects; the rest is whatever memory held."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Experts(nn.Module):
    """Sends each row to one of two experts, and rows near zero to neither."""

    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, rows):
        out = torch.empty_like(rows)  # planted: unwritten_memory
        gate = rows[:, 0]
        out[gate > 0.1] = self.first(rows[gate > 0.1])
        out[gate < -0.1] = self.second(rows[gate < -0.1])
        return torch.sigmoid(out)


class Mixture(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 96), Experts(96), nn.Linear(96, 1))

    def training_step(self, batch, index):
        return nn.functional.mse_loss(self.layers(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


L.seed_everything(2)
rows = torch.randn(128, 64)
loader = DataLoader(TensorDataset(rows, rows.mean(1, keepdim=True)), batch_size=16)
L.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(Mixture(), loader)
