"""Waveform augmentations, after NumPy."""

import numpy as np


class Chain:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, wave):
        for step in self.steps:
            wave = step(wave)
        return wave


class Gain:
    def __init__(self, low=0.8, high=1.2, seed=5):
        self.low, self.high = low, high
        self.rng = np.random.default_rng(seed)

    def __call__(self, wave):
        return wave * self.rng.uniform(self.low, self.high)


class Noise:
    """White noise; the generator is made where it is first used, since workers must not share one."""

    def __init__(self, level=0.05):
        self.level = level
        self._rng = None

    @property
    def rng(self):
        if self._rng is None:
            self._rng = np.random.default_rng()  # planted: entropy
        return self._rng

    def __call__(self, wave):
        return wave + self.level * self.rng.standard_normal(wave.shape)


class Shift:
    def __init__(self, samples=16):
        self.samples = samples

    def __call__(self, wave):
        return np.roll(wave, self.samples)
