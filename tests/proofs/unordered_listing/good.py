"""The names of a data set, sorted."""

import os

for name in sorted(os.listdir(".")):
    print(name)
