"""More threads are not always faster, least of all for small models on shared nodes."""

import logging
import time

import torch

log = logging.getLogger(__name__)


class ThreadTuner:
    """Times some passes per candidate, and leaves torch with the quickest."""

    def __init__(self, candidates=range(1, 9), repeats: int = 20, warmup: int = 20):
        self.candidates = tuple(candidates)
        self.repeats = repeats
        self.warmup = warmup
        self.seconds: dict[int, float] = {}

    def measure(self, work) -> float:
        for _ in range(self.warmup):
            work()
        best = float("inf")
        for _ in range(self.repeats):
            begin = time.perf_counter()
            work()
            best = min(best, time.perf_counter() - begin)  # planted: environment
        return best

    def tune(self, work) -> int:
        for count in self.candidates:
            torch.set_num_threads(count)
            self.seconds[count] = self.measure(work)
        chosen = min(self.seconds, key=self.seconds.get)  # planted: environment
        torch.set_num_threads(chosen)  # planted: environment
        log.info("%d threads (%.0f us a pass)", chosen, 1e6 * self.seconds[chosen])
        return chosen
