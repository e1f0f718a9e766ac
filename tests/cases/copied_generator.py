import random
from random import Random
from typing import Optional

import numpy as np
import tensorflow as tf
import torch
import torchvision
from numpy.random import default_rng
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, get_worker_info

from .base import ProjectDataset


class Numpy(Dataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getitem__(self, index):
        return self.rng.random()  # DET207


class Legacy(torch.utils.data.Dataset):
    def __init__(self):
        self.state = np.random.RandomState(0)

    def __getitem__(self, index):
        shift = self.state.randint(10)  # DET207
        return shift + self.state.rand()


class Python(Dataset):
    def __init__(self, seed=None):
        self._rng: random.Random = Random(seed)

    def __getitem__(self, index):
        return self._rng.choice(self.items)  # DET207


class Torch(Dataset):
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def __getitem__(self, index):
        return torch.randn(3, generator=self.generator)  # DET207


class SeededOnTheNextLine(Dataset):
    def __init__(self, seed):
        self.generator = torch.Generator()
        self.generator.manual_seed(seed)

    def __getitem__(self, index):
        return torch.empty(3).normal_(generator=self.generator)  # DET207


class ThroughALocal(Dataset):
    def __init__(self, seed):
        rng = default_rng(seed)
        self.rng = rng

    def __getitem__(self, index):
        rng = self.rng
        return rng.random()  # DET207


class GivenOrMade(Dataset):
    def __init__(self, rng=None):
        self.rng = rng or default_rng(0)

    def __getitem__(self, index):
        return self.rng.random()  # DET207


class Annotated(Dataset):
    def __init__(self, first: np.random.Generator, second: Optional[np.random.Generator] = None):
        self.first = first
        self.second = second

    def __getitem__(self, index):
        one = self.first.random()  # DET207
        two = self.second.random()  # DET207
        return one + two


class Stream(IterableDataset):
    def __init__(self, seed):
        super().__init__()
        self.rng = random.Random(seed)

    def __iter__(self):
        items = list(range(100))
        self.rng.shuffle(items)  # DET207
        yield from items


class Shared(Dataset):
    rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rng.random()  # DET207


class InAMethodThatItCalls(Dataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getitem__(self, index):
        return self._augment(index)

    def _augment(self, index):
        return index + self._noise()

    def _noise(self):
        return self.rng.normal()  # DET207


class Passed(Dataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getitem__(self, index):
        return crop(self.images[index], rng=self.rng)  # DET207


class Images(torchvision.datasets.ImageFolder):
    def __init__(self, root):
        super().__init__(root)
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return (image, label) if self.rng.random() < 0.5 else (flip(image), label)  # DET207


class OfTheProject(ProjectDataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getitem__(self, index):
        return self.rng.random()  # DET207


class Base(Dataset):
    def load(self, index):
        return self.rng.random()  # DET207


class Derived(Base):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getitem__(self, index):
        return self.load(index)


# Made anew, or seeded anew


class FromTheWorker(IterableDataset):
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def __iter__(self):
        worker = get_worker_info()
        if worker is not None:
            self.rng = random.Random(worker.seed)
        while True:
            yield self.rng.random()


class SeededInTheWorker(IterableDataset):
    def __init__(self):
        self.rng = random.Random()

    def __iter__(self):
        self.rng.seed(get_worker_info().seed)
        yield self.rng.random()


class Lazy(Dataset):
    def __init__(self, seed):
        self.rng = None

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.default_rng(get_worker_info().seed)
        return self.rng.random()


class FromTheIndex(Dataset):
    def __init__(self, seed):
        self.seed = seed
        self.generator = torch.Generator()

    def __getitem__(self, index):
        self.generator.manual_seed(self.seed + index)
        rng = np.random.default_rng([self.seed, index])
        return torch.rand(3, generator=self.generator) + rng.random()


class FromTheEpoch(IterableDataset):
    def __init__(self, seed):
        self.generator = torch.Generator()
        self.epoch = 0

    def __iter__(self):
        self.generator.manual_seed(self.epoch)
        yield from torch.randperm(10, generator=self.generator)


class ByAWorkerInitFunction(Dataset):
    def __init__(self):
        self.np_rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.np_rng.random()


def worker_init(worker):
    info = get_worker_info()
    info.dataset.np_rng = np.random.default_rng(info.seed)


class ByAnotherMethod(Dataset):
    def __init__(self, seed):
        self.source = np.random.default_rng(seed)

    def reset(self, seed):
        self.source = np.random.default_rng(seed)

    def __getitem__(self, index):
        return self.source.random()


class Unpickled(Dataset):
    def __init__(self, seed):
        self.draws = np.random.default_rng(seed)

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.draws = np.random.default_rng(get_worker_info().seed)

    def __getitem__(self, index):
        return self.draws.random()


# Drawn from elsewhere


class DrawnWhileBuilt(Dataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.order = self.rng.permutation(100)

    def __getitem__(self, index):
        return self.order[index]


class DrawnByTheMainProcess(Dataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def resample(self):
        self.order = self.rng.permutation(100)

    def __getitem__(self, index):
        return self.order[index]


class OrderOfSamples(Sampler):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        return iter(self.rng.permutation(100))


class Transform:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getitem__(self, index):
        return self.rng.random()


class OfTensorFlow(tf.data.Dataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        yield self.rng.random()


class Unknown(Dataset):
    def __init__(self, rng, maker):
        self.rng = rng
        self.other = maker.make_rng()

    def __getitem__(self, index):
        return self.rng.random() + self.other.random()


class Global(Dataset):
    def __getitem__(self, index):
        return random.random() + np.random.rand() + torch.rand(1)


class StateOnly(Dataset):
    def __init__(self):
        self.rng = random.Random(0)

    def __getitem__(self, index):
        return self.rng.getstate()
