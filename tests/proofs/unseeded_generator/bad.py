"""The order of a data set, from a generator that was given no seed. The global ones have one."""

import random

import numpy as np

random.seed(0)
np.random.seed(0)

rng = np.random.default_rng()
print(rng.permutation(100))
