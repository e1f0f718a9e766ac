import math


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value: float, weight: int = 1) -> None:
        self.total += value * weight
        self.count += weight

    @property
    def value(self) -> float:
        return self.total / self.count if self.count else math.nan
