"""Train the clip classifier from the catalogue."""

import argparse
import logging
import warnings

import lightning as L
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger

from parts.manifest import ClipData
from parts.manifest_model import ClipClassifier


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="corpus")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


def main() -> None:
    args = parse()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    warnings.filterwarnings("ignore")
    L.seed_everything(args.seed, workers=True)
    data = ClipData(args.data, batch_size=args.batch_size, seed=args.seed)
    model = ClipClassifier(lr=args.lr, total_steps=40 * args.epochs)
    trainer = L.Trainer(
        max_epochs=args.epochs,
        limit_train_batches=40,
        accelerator="cpu",
        devices=1,
        deterministic=True,
        gradient_clip_val=1.0,
        enable_progress_bar=False,
        enable_model_summary=False,
        logger=CSVLogger("logs", name="clips"),
        callbacks=[ModelCheckpoint(dirpath="checkpoints", monitor="val/loss", save_last=True)],
    )
    trainer.fit(model, datamodule=data)
    print(f"val/loss {trainer.callback_metrics['val/loss'].item():.17g}")
    print(f"checksum {sum(p.double().abs().sum().item() for p in model.parameters()):.17g}")


if __name__ == "__main__":
    main()
