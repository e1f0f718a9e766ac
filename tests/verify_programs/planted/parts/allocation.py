"""Progress of a job that has a fixed allocation on the cluster."""
import time


class Allocation:
    """How much of the job's time is used up, from 0 to 1."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.began = None

    def start(self):
        self.began = time.monotonic()
        return self

    @property
    def used(self):
        return min(1.0, (time.monotonic() - self.began) / self.seconds)  # planted: clock


class Annealing:
    """Noise on the inputs, less of it as the job nears its end."""

    def __init__(self, allocation, high=0.5, low=0.05, levels=4000):
        self.allocation, self.high, self.low, self.levels = allocation, high, low, levels

    def __call__(self):
        done = round(self.allocation.used * self.levels) / self.levels
        return self.high + (self.low - self.high) * done
