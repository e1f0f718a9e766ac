"""Lightning with validation in between, a schedule and gradient accumulation."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tabular(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))

    def training_step(self, batch, index):
        rows, labels = batch
        return nn.functional.cross_entropy(self.layers(rows), labels)

    def validation_step(self, batch, index):
        rows, labels = batch
        self.log("loss", nn.functional.cross_entropy(self.layers(rows), labels))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)]


L.seed_everything(0, workers=True)
rows = torch.randn(96, 8)
data = TensorDataset(rows, (rows.sum(1) > 0).long())
L.Trainer(
    max_epochs=2,
    accelerator="cpu",
    accumulate_grad_batches=2,
    val_check_interval=0.5,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(Tabular(), DataLoader(data, batch_size=8, shuffle=True), DataLoader(data, batch_size=32))
