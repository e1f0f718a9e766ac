"""A seeded split of the names of a data set, made unique by a set, and sorted."""

import random

names = [f"speaker{number % 12}" for number in range(40)]
unique = sorted(set(names))
random.Random(0).shuffle(unique)
held_out = unique[:3]
print([name for name in names[:12] if name in held_out])
