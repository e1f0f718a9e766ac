"""The sampler has a generator of its own, and its seed is a fresh one."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


class Detector(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))

    def training_step(self, batch, index):
        rows, labels = batch
        return nn.functional.cross_entropy(self.layers(rows), labels)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


def loader():
    rows = torch.randn(64, 5)
    labels = (rows[:, 0] > 1).long()
    weights = torch.where(labels == 1, 5.0, 1.0)
    generator = torch.Generator()
    generator.seed()  # planted: generator or batch_content or batch_order
    sampler = WeightedRandomSampler(weights, 64, generator=generator)
    return DataLoader(TensorDataset(rows, labels), batch_size=8, sampler=sampler)


L.seed_everything(3)
L.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(Detector(), loader())
