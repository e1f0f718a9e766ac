"""Settings of a run: defaults, then a file, then the command line."""

import argparse
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass
class Config:
    study: int = 0
    trial: int = 0
    epochs: int = 3
    batch_size: int = 64
    width: int = 48
    dropout: float = 0.1
    rows: int = 4000
    seed: int = 1
    out: str = "trials"

    @classmethod
    def load(cls, argv: list[str] | None = None) -> "Config":
        parser = argparse.ArgumentParser()
        parser.add_argument("--config", type=Path)
        for field in fields(cls):
            parser.add_argument("--" + field.name.replace("_", "-"), type=field.type, default=None)
        given = vars(parser.parse_args(argv))
        path = given.pop("config")
        values = json.loads(path.read_text()) if path else {}
        values.update({k: v for k, v in given.items() if v is not None})
        return cls(**values)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(asdict(self), indent=2))
