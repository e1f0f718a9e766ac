"""The first weights of a model, drawn after seeding with a fixed number."""

import random

seed = 0
random.seed(seed)
print([random.gauss(0, 0.02) for _ in range(8)])
