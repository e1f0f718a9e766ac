"""The order of a data set, from a generator that was given a seed."""

import random

import numpy as np

random.seed(0)
np.random.seed(0)

rng = np.random.default_rng(0)
print(rng.permutation(100))
