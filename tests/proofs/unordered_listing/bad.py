# needs: tmpfs
"""The names of a data set, in the order in which the file system lists them."""

import os

for name in os.listdir("."):
    print(name)
