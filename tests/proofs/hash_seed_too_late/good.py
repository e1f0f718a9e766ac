"""The order of a set, in a program that starts itself anew with the seed of the hashes."""

import os
import sys

if os.environ.get("PYTHONHASHSEED") != "0":
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, sys.orig_argv)
print([name for name in {"train", "valid", "test", "extra"}])
