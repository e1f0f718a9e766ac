import numpy as np


class NegativeSampler:
    """Items that a user has not clicked, popular ones more often."""

    def __init__(self, popularity, seed):
        self.rng = np.random.default_rng(seed)
        self.probabilities = popularity / popularity.sum()

    def draw(self, users, count):
        return self.rng.choice(len(self.probabilities), size=(users, count), p=self.probabilities)
