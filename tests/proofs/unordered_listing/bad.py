# needs: tmpfs
"""The number of each class of a data set, by the order in which the file system lists them."""

import os

numbers = {name: number for number, name in enumerate(os.listdir("."))}
print([numbers[name] for name in sorted(numbers)])
