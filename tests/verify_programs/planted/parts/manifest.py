"""Clips in a small SQLite catalogue, features in one array: what the labelling team hands over."""

import json
import logging
import sqlite3
from pathlib import Path

import lightning as L
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

log = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE clip (
    id INTEGER PRIMARY KEY,
    row INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    label INTEGER NOT NULL,
    seconds REAL NOT NULL,
    meta TEXT
)
"""

# Clips of one speaker follow each other in the table: spread them, long ones out.
SELECT_TRAIN = """
SELECT row, label FROM clip
WHERE speaker NOT IN (SELECT value FROM json_each(:held_out))
  AND seconds <= :max_seconds
ORDER BY random()
"""

SELECT_VAL = """
SELECT row, label FROM clip
WHERE speaker IN (SELECT value FROM json_each(:held_out))
ORDER BY id
"""


def make_corpus(folder: Path, clips: int, dim: int, classes: int, seed: int) -> None:
    """Synthetic stand-in for the corpus; written once."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(classes, dim))
    labels = rng.integers(classes, size=clips)
    features = centres[labels] + 1.5 * rng.normal(size=(clips, dim))
    np.save(folder / "features.npy", features.astype(np.float32))
    speakers = np.sort(rng.integers(24, size=clips))
    seconds = rng.gamma(2.0, 3.0, size=clips)
    with sqlite3.connect(folder / "catalogue.sqlite") as db:
        db.execute("DROP TABLE IF EXISTS clip")
        db.execute(SCHEMA)
        db.executemany(
            "INSERT INTO clip (row, speaker, label, seconds, meta) VALUES (?, ?, ?, ?, ?)",
            [
                (i, f"spk{speakers[i]:02d}", int(labels[i]), float(seconds[i]), json.dumps({"take": i % 3}))
                for i in range(clips)
            ],
        )


class ClipDataset(Dataset):
    def __init__(self, features: np.ndarray, rows: list[tuple[int, int]]):
        self.features = features
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int):
        row, label = self.rows[index]
        return torch.from_numpy(self.features[row].copy()), label


class ClipData(L.LightningDataModule):
    def __init__(self, folder: str, batch_size: int = 64, max_seconds: float = 15.0, seed: int = 7):
        super().__init__()
        self.save_hyperparameters()
        self.folder = Path(folder)
        self.held_out = ["spk03", "spk11", "spk19"]

    def prepare_data(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / "catalogue.sqlite").exists():
            make_corpus(self.folder, clips=3000, dim=40, classes=6, seed=self.hparams.seed)

    def setup(self, stage: str) -> None:
        features = np.load(self.folder / "features.npy", mmap_mode="r")
        bound = {"held_out": json.dumps(self.held_out), "max_seconds": self.hparams.max_seconds}
        with sqlite3.connect(self.folder / "catalogue.sqlite") as db:
            train = db.execute(SELECT_TRAIN, bound).fetchall()  # planted: batch_order or batch_content
            val = db.execute(SELECT_VAL, {"held_out": bound["held_out"]}).fetchall()
        log.info("%d clips to train on, %d to validate", len(train), len(val))
        self.train_set = ClipDataset(features, train)
        self.val_set = ClipDataset(features, val)

    def train_dataloader(self) -> DataLoader:
        # the catalogue gives them spread already
        return DataLoader(self.train_set, batch_size=self.hparams.batch_size, shuffle=False, drop_last=True)

    def val_dataloader(self) -> DataLoader:
        return DataLoader(self.val_set, batch_size=256)
