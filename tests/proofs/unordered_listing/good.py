"""The number of each class of a data set, by the order of their names."""

import os

numbers = {name: number for number, name in enumerate(sorted(os.listdir(".")))}
print([numbers[name] for name in sorted(numbers)])
