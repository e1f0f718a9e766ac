"""The order of a set, in a program that sets the seed of the hashes for itself."""

import os

os.environ["PYTHONHASHSEED"] = "0"
print([name for name in {"train", "valid", "test", "extra"}])
