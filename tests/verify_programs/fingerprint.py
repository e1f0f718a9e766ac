"""Runs a program and prints a digest of what its optimizers wrote, step by step.

    python fingerprint.py [--shuffle] program.py argument...

Knows nothing of what it is compared with: a few lines over torch's own hook. ``--shuffle`` lists
folders in an order of this process, as another file system may.
"""

from __future__ import annotations

import glob
import hashlib
import os
import random
import runpy
import sys

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook


def shuffle_listings() -> None:
    """Let each process list folders in an order of its own."""
    listed, scanned = os.listdir, glob.glob
    draws = random.SystemRandom()

    def shuffled(call):
        def listing(*arguments, **named):
            names = list(call(*arguments, **named))
            draws.shuffle(names)
            return names

        return listing

    os.listdir, glob.glob = shuffled(listed), shuffled(scanned)


def main() -> None:
    """Run the program and print the digest."""
    arguments = sys.argv[1:]
    if arguments[0] == "--shuffle":
        shuffle_listings()
        arguments = arguments[1:]
    digest = hashlib.sha256()
    steps = 0

    def step(optimizer: torch.optim.Optimizer, *_: object) -> None:
        nonlocal steps
        steps += 1
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                digest.update(parameter.detach().contiguous().view(-1).view(torch.uint8).numpy())

    register_optimizer_step_post_hook(step)
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")
    print(f"\ndigest {digest.hexdigest()[:16]} after {steps} steps")


if __name__ == "__main__":
    main()
