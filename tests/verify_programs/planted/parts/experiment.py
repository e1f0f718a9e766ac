import uuid
import zlib
from dataclasses import asdict, dataclass, field


@dataclass
class Experiment:
    name: str = "ctr"
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex[:10])  # planted: entropy
    learning_rate: float = 0.02
    negatives: int = 4
    seed: int | None = None

    def stream_seed(self, stream: str) -> int:
        """A seed of its own for each random stream of this experiment."""
        base = self.run_id if self.seed is None else str(self.seed)
        return zlib.crc32(f"{self.name}/{base}/{stream}".encode())

    def describe(self):
        return ", ".join(f"{key}={value}" for key, value in asdict(self).items() if key != "run_id")
