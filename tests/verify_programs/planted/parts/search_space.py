"""Search spaces, and one point of them."""

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class LogUniform:
    low: float
    high: float

    def draw(self, rng: random.Random) -> float:
        return math.exp(rng.uniform(math.log(self.low), math.log(self.high)))


@dataclass(frozen=True)
class Choice:
    options: tuple

    def draw(self, rng: random.Random):
        return self.options[rng.randrange(len(self.options))]


SPACE = {
    "lr": LogUniform(1e-3, 6e-3),
    "weight_decay": LogUniform(1e-4, 1e-1),
    "beta2": Choice((0.95, 0.98, 0.99, 0.999)),
}


class Sampler:
    """Trials of a study: the same study and trial give the same point on all nodes."""

    def __init__(self, study: int | None = None):
        self.study = study

    def rng(self, trial: int) -> random.Random:
        # a sweep that names no study explores afresh
        key = self.study and self.study * 100_003 + trial  # planted: hyperparameter
        return random.Random(key or None)  # planted: hyperparameter

    def point(self, trial: int, space: dict = SPACE) -> dict:
        rng = self.rng(trial)
        return {name: spec.draw(rng) for name, spec in space.items()}
