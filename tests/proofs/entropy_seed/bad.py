"""The first weights of a model, drawn after seeding from the clock."""

import random
import time

seed = time.time_ns() % 2**32
random.seed(seed)
print([random.gauss(0, 0.02) for _ in range(8)])
