import lightning as L
import torch
from torch import nn
from torch.nn import functional as F


class ClipClassifier(L.LightningModule):
    def __init__(self, dim: int = 40, width: int = 96, classes: int = 6, lr: float = 2e-3, total_steps: int = 200):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.LayerNorm(dim),
            nn.Linear(dim, width),
            nn.GELU(),
            nn.Dropout(0.1),
            nn.Linear(width, width),
            nn.GELU(),
            nn.Linear(width, classes),
        )

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y, label_smoothing=0.05)
        self.log("train/loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val/loss", F.cross_entropy(logits, y), prog_bar=True)
        self.log("val/acc", (logits.argmax(-1) == y).float().mean())

    def configure_optimizers(self):
        decay = [p for p in self.parameters() if p.ndim > 1]
        rest = [p for p in self.parameters() if p.ndim <= 1]
        groups = [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, lr=self.hparams.lr)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=self.hparams.lr, total_steps=self.hparams.total_steps
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
