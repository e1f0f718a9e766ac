"""Image augmentations that are described by a recipe."""
import hashlib

import torch


class Flip:
    def __init__(self, p):
        self.p = p

    def __repr__(self):
        return f"Flip(p={self.p})"

    def __call__(self, images, generator):
        flipped = torch.rand(len(images), generator=generator) < self.p
        return torch.where(flipped[:, None, None, None], images.flip(-1), images)


class Brightness:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, images, generator):
        return images * (1 + self.amount * (2 * torch.rand(len(images), 1, 1, 1, generator=generator) - 1))


class Recipe:
    def __init__(self, *stages):
        self.stages = list(stages)

    def fingerprint(self):
        """Two recipes that do the same have the same fingerprint."""
        return hashlib.sha1(repr(self.stages).encode()).hexdigest()  # planted: object_address

    def generator(self):
        return torch.Generator().manual_seed(int(self.fingerprint()[:8], 16))

    def stream(self, batches):
        generator = self.generator()
        for images, labels in batches:
            for stage in self.stages:
                images = stage(images, generator)
            yield images, labels
