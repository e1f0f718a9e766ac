import functools
import random

import albumentations as A
import imgaug.augmenters as iaa
import numpy as np
import tensorflow as tf
import torch
import torch.utils.data as data
import torch_geometric
import torchvision
from faker import Faker
from litdata import StreamingDataLoader
from monai.data import DataLoader as MonaiLoader
from monai.transforms import RandFlip
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset
from torch.utils.data import DataLoader as DL
from torch.utils.data import get_worker_info, random_split
from torch_geometric.loader import DataLoader as GraphLoader
from torch_geometric.loader import NeighborLoader
from torchdata.stateful_dataloader import StatefulDataLoader
from torchvision import transforms

import guard

WORKERS = 4
NONE = 0
RNG = np.random.default_rng(0)


class Noise:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, image):
        return image + self.rng.normal()


class Images(Dataset):
    def __init__(self, images, transform=None):
        self.images = images
        self.transform = transform

    def __getitem__(self, index):
        image = self.images[index]
        return image if self.transform is None else self.transform(image)


class Noisy(Dataset):
    def __init__(self, images):
        self.images = images
        self.noise = Noise(0)

    def __getitem__(self, index):
        return self.noise(self.images[index])


# Which loaders


def literal_counts(images):
    noisy = Noisy(images)
    yield DataLoader(noisy, num_workers=4)  # DET201
    yield DataLoader(noisy, num_workers=WORKERS)  # DET201
    yield DataLoader(noisy, 8, True, None, None, 2)  # DET201
    yield DataLoader(noisy, num_workers=0)
    yield DataLoader(noisy, num_workers=NONE)
    yield DataLoader(noisy)
    yield DataLoader(noisy, 8, True, None, None, 0)
    yield DataLoader(noisy, 8, True)


def unknown_counts(images, args, num_workers=0):
    noisy = Noisy(images)
    yield DataLoader(noisy, num_workers=args.num_workers)  # DET201
    yield DataLoader(noisy, num_workers=num_workers)  # DET201
    yield DataLoader(noisy, num_workers=0 if args.debug else 4)  # DET201
    yield DataLoader(  # DET201
        noisy,
        batch_size=4,
        num_workers=min(4, args.cpus),
    )


def given(images, seed_worker, options, positional):
    noisy = Noisy(images)
    yield DataLoader(noisy, num_workers=4, worker_init_fn=seed_worker)
    yield DataLoader(noisy, num_workers=4, worker_init_fn=lambda i: np.random.seed(i))
    yield DataLoader(noisy, 1, True, None, None, 2, None, False, False, 0, seed_worker)
    yield DataLoader(noisy, num_workers=4, **options)
    yield DataLoader(*positional, num_workers=4)
    yield DataLoader(noisy, num_workers=4, worker_init_fn=None)  # DET201


def other_names(images):
    noisy = Noisy(images)
    yield data.DataLoader(noisy, num_workers=1)  # DET201
    yield torch.utils.data.DataLoader(noisy, num_workers=1)  # DET201
    yield DL(noisy, num_workers=1)  # DET201
    yield StatefulDataLoader(noisy, num_workers=1)  # DET201
    yield GraphLoader(noisy, num_workers=1)  # DET201
    yield GraphLoader(noisy, 8, True, None, None, 2)
    yield torch_geometric.loader.DataLoader(noisy, num_workers=1)  # DET201
    yield NeighborLoader(noisy, num_neighbors=[2], num_workers=1)  # DET201
    yield StreamingDataLoader(noisy, num_workers=1)  # DET201
    yield DataLoader(dataset=noisy, num_workers=1)  # DET201
    yield MonaiLoader(noisy, num_workers=1)  # seeds its workers itself


def set_afterwards(images, seed_worker):
    loader = DataLoader(Noisy(images), num_workers=2)
    loader.worker_init_fn = seed_worker
    return loader


def shadowed(images, DataLoader):
    return DataLoader(Noisy(images), num_workers=4)


class PlainLoader(DataLoader):
    pass


class KeywordLoader(DataLoader):
    def __init__(self, dataset, extra, **kwargs):
        super().__init__(dataset, **kwargs)
        self.extra = extra


class SeedingLoader(DataLoader):
    def __init__(self, dataset, **kwargs):
        kwargs.setdefault("worker_init_fn", seed)
        super().__init__(dataset, **kwargs)


class FixedLoader(DataLoader):
    def __init__(self, images):
        super().__init__(Noisy(images), num_workers=8)  # DET201


class CarefulLoader(DataLoader):
    def __init__(self, images, workers):
        super().__init__(Noisy(images), num_workers=workers, worker_init_fn=seed)


class Other:
    def __init__(self, images, num_workers):
        super().__init__(Noisy(images), num_workers=num_workers)


def seed(worker):
    random.seed(worker)


def subclasses(images):
    noisy = Noisy(images)
    yield PlainLoader(noisy, num_workers=2)  # DET201
    yield PlainLoader(noisy, num_workers=0)
    yield KeywordLoader(noisy, None, num_workers=2)  # DET201
    yield SeedingLoader(noisy, num_workers=2)
    yield FixedLoader(noisy)
    yield CarefulLoader(noisy, 2)
    yield Other(noisy, num_workers=2)


class LoadingItself(Noisy):
    def loader(self, num_workers):
        return DataLoader(self, num_workers=num_workers)  # DET201


def not_a_loader(pool, num_workers):
    return pool.start(Noisy([]), num_workers=num_workers)


# Which data set


def not_seen(dataset, args):
    yield DataLoader(dataset, num_workers=4)  # possible DET201
    yield DataLoader(dataset, shuffle=True, num_workers=4)  # possible DET201
    yield DataLoader(args.make_dataset(), shuffle=True, num_workers=4)  # possible DET201


def wrapped(images, n):
    noisy = Noisy(images)
    yield DataLoader(Subset(noisy, [0, 1]), num_workers=n)  # DET201
    yield DataLoader(ConcatDataset([Images(images), noisy]), num_workers=n)  # DET201
    train, held_out = random_split(noisy, [8, 2])
    yield DataLoader(train, num_workers=n)  # DET201
    yield DataLoader(held_out, num_workers=n)  # DET201
    yield DataLoader(noisy + Images(images), num_workers=n)  # DET201
    yield DataLoader(Subset(Images(images), [0, 1]), num_workers=n)


def kept_in_a_dict(images, n):
    sets = {"train": Images(images, transform=Noise(0)), "test": Images(images)}
    yield DataLoader(sets["train"], num_workers=n)  # DET201
    yield DataLoader(sets["test"], num_workers=n)
    yield {name: DataLoader(sets[name], num_workers=n) for name in sets}  # DET201


def build(images, train):
    return Images(images, transform=Noise(0) if train else None)


def build_both(images):
    return Images(images, Noise(0)), Images(images)


def returned(images, n):
    yield DataLoader(build(images, True), num_workers=n)  # DET201
    train, test = build_both(images)
    yield DataLoader(train, num_workers=n)  # DET201
    yield DataLoader(test, num_workers=n)


class DataModule:
    def setup(self, images):
        self.train = Images(images, Noise(0))
        self.test = Images(images)

    def train_dataloader(self):
        return DataLoader(self.train, num_workers=4)  # DET201

    def test_dataloader(self):
        return DataLoader(self.test, num_workers=4)


def either(images, n, train):
    if train:
        dataset = Noisy(images)
    else:
        dataset = Images(images)
    return DataLoader(dataset, num_workers=n)  # DET201


def typed(dataset: Noisy, n):
    return DataLoader(dataset, num_workers=n)  # DET201


class Inherited(Noisy):
    def __len__(self):
        return 8


class HandedToTheBase(Images):
    def __init__(self, images):
        super().__init__(images, transform=Noise(0))


def bases(images, n):
    yield DataLoader(Inherited(images), num_workers=n)  # DET201
    yield DataLoader(HandedToTheBase(images), num_workers=n)  # DET201


# What a worker draws


class DrawsNothing(Dataset):
    def __getitem__(self, index):
        return self.images[index]


class DrawsWhatTorchSeeds(Dataset):
    def __getitem__(self, index):
        return random.random() + np.random.rand() + torch.rand(1)


class FromTheModule(Dataset):
    def __getitem__(self, index):
        return RNG.normal()


class OfItsOwn(Dataset):  # DET207 tells it where it draws
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.draw()

    def draw(self):
        return self.rng.normal()


class Chained(IterableDataset):
    def __init__(self, images):
        self.chain = OfItsOwn()

    def __iter__(self):
        yield self.chain.draw()


class FromGuard(Dataset):
    def __init__(self):
        self.stream = {"augmentation": guard.generator("augmentation")}

    def __getitem__(self, index):
        return torch.rand(1, generator=self.stream["augmentation"])


class AskingGuard(Dataset):
    def __getitem__(self, index):
        return torch.rand(1, generator=guard.generator("augmentation"))


class FromTheIndex(Dataset):
    def __getitem__(self, index):
        return self.draw(np.random.default_rng(index))

    def draw(self, rng):
        return rng.normal()


class Stream(IterableDataset):
    def __init__(self, images):
        self.noise = Noise(0)

    def __iter__(self):
        for image in self.images:
            yield self.prepare(image)

    def prepare(self, image):
        return self.noise(image)


class DrawnWhileBuilt(Dataset):
    def __init__(self):
        self.order = RNG.permutation(8)

    def __getitem__(self, index):
        return self.order[index]


class DrawnElsewhere(Dataset):
    def resample(self):
        self.order = RNG.permutation(8)

    def __getitem__(self, index):
        return self.order[index]


def shift(image):
    return image + RNG.normal()


def passes_on(image, amount):
    return shift(image) * amount


class CallingFunctions(Dataset):
    def __getitem__(self, index):
        return passes_on(self.images[index], 2)


class Renewing:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, image):
        self.rng = np.random.default_rng(get_worker_info().seed)
        return image + self.rng.normal()


class OfTensorFlow(Dataset):
    def __getitem__(self, index):
        return tf.random.uniform([3])


class Names(Dataset):
    def __init__(self):
        self.fake = Faker()

    def __getitem__(self, index):
        return self.fake.name()


def draws(n, images):
    yield DataLoader(DrawsNothing(), shuffle=True, num_workers=n)
    yield DataLoader(DrawsWhatTorchSeeds(), shuffle=True, num_workers=n)
    yield DataLoader(FromTheModule(), num_workers=n)  # DET201
    yield DataLoader(OfItsOwn(), num_workers=n)
    yield DataLoader(Chained(images), num_workers=n)
    yield DataLoader(FromGuard(), num_workers=n)  # DET201
    yield DataLoader(AskingGuard(), num_workers=n)
    yield DataLoader(FromTheIndex(), num_workers=n)
    yield DataLoader(Stream(images), num_workers=n)  # DET201
    yield DataLoader(DrawnWhileBuilt(), num_workers=n)
    yield DataLoader(DrawnElsewhere(), num_workers=n)
    yield DataLoader(CallingFunctions(), num_workers=n)  # DET201
    yield DataLoader(Images(images, Renewing()), num_workers=n)
    yield DataLoader(OfTensorFlow(), num_workers=n)  # DET201
    yield DataLoader(Names(), num_workers=n)  # DET201


def transformed(images, n, root, mean):
    yield DataLoader(Images(images, A.Compose([A.HorizontalFlip()])), num_workers=n)  # DET201
    yield DataLoader(Images(images, A.Compose([A.Resize(8, 8), A.Normalize()])), num_workers=n)
    yield DataLoader(Images(images, iaa.Fliplr(0.5)), num_workers=n)  # DET201
    yield DataLoader(Images(images, RandFlip(0.5)), num_workers=n)  # DET201
    yield DataLoader(Images(images, transforms.RandomHorizontalFlip()), num_workers=n)
    several = transforms.Compose([transforms.ToTensor(), Noise(0)])
    yield DataLoader(Images(images, several), num_workers=n)  # DET201
    folder = torchvision.datasets.ImageFolder(root, transform=several)
    yield DataLoader(folder, num_workers=n)  # DET201
    yield DataLoader(torchvision.datasets.ImageFolder(root), num_workers=n)
    yield DataLoader(Images(images, functools.partial(shift)), num_workers=n)  # DET201
    yield DataLoader(Images(images, lambda image: image + RNG.normal()), num_workers=n)  # DET201
    yield DataLoader(Images(images, lambda image: image - mean), num_workers=n)


def collate(batch):
    return RNG.permutation(batch)


def collated(images, n):
    yield DataLoader(Images(images), num_workers=n, collate_fn=collate)  # DET201
    yield DataLoader(Images(images), num_workers=n, collate_fn=torch.stack)


# By what a call passes, some of this is not run


def enhanced(way, strong=False):
    if way is None:
        return A.NoOp()
    if way == "contrast" or strong:
        return A.CLAHE(p=1)
    return A.Resize(8, 8)


def prepared(size, way=None):
    return A.Compose([A.Resize(size, size), enhanced(way), A.Normalize()])


def prepared_for(split):
    held = [A.Resize(8, 8)]
    if split != "train":
        return A.Compose(held)
    return A.Compose([*held, A.HorizontalFlip()])


class Pictures(Dataset):
    def __init__(self, pictures, augments=True):
        self.pictures = pictures
        self.augments = augments

    def __getitem__(self, index):
        if not self.augments:
            return self.pictures[index]
        return self.pictures[index] + RNG.normal()


class Changed(Dataset):
    def __init__(self, pictures, shifts):
        self.pictures = pictures
        self.shifts = shifts

    def train(self):
        self.shifts = True

    def __getitem__(self, index):
        return RNG.normal() if self.shifts else self.pictures[index]


def passed(images, n, args, more):
    yield DataLoader(Images(images, prepared(8)), num_workers=n)
    yield DataLoader(Images(images, prepared(8, None)), num_workers=n)
    yield DataLoader(Images(images, prepared(8, way="plain")), num_workers=n)
    yield DataLoader(Images(images, prepared(8, way="contrast")), num_workers=n)  # DET201
    yield DataLoader(Images(images, prepared(8, args.way)), num_workers=n)  # DET201
    yield DataLoader(Images(images, prepared(8, **more)), num_workers=n)  # DET201
    yield DataLoader(Images(images, enhanced("plain", strong=True)), num_workers=n)  # DET201
    yield DataLoader(Images(images, prepared_for("test")), num_workers=n)
    yield DataLoader(Images(images, prepared_for("train")), num_workers=n)  # DET201
    yield DataLoader(Pictures(images), num_workers=n)  # DET201
    yield DataLoader(Pictures(images, augments=False), num_workers=n)
    yield DataLoader(Pictures(images, args.augments), num_workers=n)  # DET201
    yield DataLoader(Changed(images, False), num_workers=n)  # DET201


# Loaders that a helper makes of the data that it is given


def loader_of(dataset, n):
    return DataLoader(dataset, batch_size=8, num_workers=n)  # DET201


def quiet_loader_of(dataset, n):
    return DataLoader(dataset, batch_size=8, num_workers=n)


class Loading:
    def __init__(self, dataset: Dataset):
        self.dataset = dataset

    def loader(self, n):
        return DataLoader(self.dataset, num_workers=n)  # DET201


def made(images, n):
    yield quiet_loader_of(Images(images), n)
    yield loader_of(Images(images), n)
    first, second = Images(images, Noise(0)), Images(images)
    yield loader_of(first, n)
    yield Loading(second).loader(n)
    yield Loading(first).loader(n)
