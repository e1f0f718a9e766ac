import numpy as np
import torch


class Cutout:
    def __init__(self, size=4, seed=40):
        self.size = size
        self.rng = np.random.default_rng(seed)  # planted: state

    def __call__(self, images):
        images = images.clone()
        for image in images:
            top, left = self.rng.integers(0, image.shape[-1] - self.size, 2)  # planted: state
            image[:, top : top + self.size, left : left + self.size] = 0
        return images


class Flip:
    def __call__(self, images):
        turned = torch.rand(len(images)) < 0.5
        return torch.where(turned[:, None, None, None], images.flip(-1), images)
