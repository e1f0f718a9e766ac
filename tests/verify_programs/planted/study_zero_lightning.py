"""One trial of a random search, with Lightning."""

import json
import logging
import warnings
from pathlib import Path

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from parts.study import Config
from parts.search_space import Sampler


class SpiralData(L.LightningDataModule):
    def __init__(self, rows: int, batch_size: int, seed: int):
        super().__init__()
        self.rows, self.batch_size, self.seed = rows, batch_size, seed

    def setup(self, stage: str) -> None:
        generator = torch.Generator().manual_seed(self.seed)
        labels = torch.randint(3, (self.rows,), generator=generator)
        radius = torch.rand(self.rows, generator=generator)
        angle = 5 * radius + labels * 2.0944 + 0.25 * torch.randn(self.rows, generator=generator)
        points = torch.stack([radius * angle.cos(), radius * angle.sin()], -1)
        cut = int(0.8 * self.rows)
        self.train_set = TensorDataset(points[:cut], labels[:cut])
        self.val_set = TensorDataset(points[cut:], labels[cut:])

    def train_dataloader(self) -> DataLoader:
        generator = torch.Generator().manual_seed(self.seed)
        return DataLoader(self.train_set, self.batch_size, shuffle=True, generator=generator)

    def val_dataloader(self) -> DataLoader:
        return DataLoader(self.val_set, 400)


class Classifier(L.LightningModule):
    def __init__(self, width: int, dropout: float, point: dict):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.SiLU(), nn.Dropout(dropout), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 3)
        )

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self.net(x), y))

    def configure_optimizers(self):
        point = self.hparams.point
        optimizer = torch.optim.AdamW(
            self.parameters(), lr=point["lr"], betas=(0.9, point["beta2"]), weight_decay=point["weight_decay"]
        )
        total = self.trainer.estimated_stepping_batches
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20, 1.1 - step / total))
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


def main() -> None:
    config = Config.load()
    warnings.filterwarnings("ignore")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    L.seed_everything(config.seed)
    point = Sampler(config.study).point(config.trial)
    folder = Path(config.out) / f"study{config.study}" / f"trial{config.trial}"
    config.save(folder)
    model = Classifier(config.width, config.dropout, point)
    trainer = L.Trainer(
        max_epochs=config.epochs,
        accelerator="cpu",
        deterministic=True,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        callbacks=[EarlyStopping("val_loss", patience=3)],
    )
    trainer.fit(model, datamodule=SpiralData(config.rows, config.batch_size, config.seed))
    result = {"val_loss": trainer.callback_metrics["val_loss"].item(), **point}
    (folder / "result.json").write_text(json.dumps(result))
    torch.save(model.state_dict(), folder / "model.pt")
    print(f"val_loss {result['val_loss']:.17g}")
    print(f"checksum {sum(p.double().abs().sum().item() for p in model.parameters()):.17g}")


if __name__ == "__main__":
    main()
