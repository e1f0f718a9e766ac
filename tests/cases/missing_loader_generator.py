import torch
import torch.utils.data as data
from monai.data import DataLoader as MonaiLoader
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    random_split,
)
from torch.utils.data import DataLoader as DL
from torch.utils.data.dataset import random_split as split
from torch.utils.data.sampler import RandomSampler as Sampler
from torch_geometric.loader import DataLoader as GraphLoader
from torch_geometric.loader import NeighborLoader
from torchdata.stateful_dataloader import StatefulDataLoader

SHUFFLE = True


def shuffling(dataset):
    yield DataLoader(dataset, shuffle=True)  # DET202
    yield DataLoader(dataset, 32, True)  # DET202
    yield DataLoader(dataset, shuffle=SHUFFLE)  # DET202
    yield DataLoader(dataset, shuffle=True, sampler=None)  # DET202
    yield DataLoader(dataset, shuffle=True, generator=None)  # DET202
    yield data.DataLoader(dataset, shuffle=True)  # DET202
    yield torch.utils.data.DataLoader(  # DET202
        dataset,
        batch_size=64,
        shuffle=True,
        num_workers=2,
    )
    yield DL(dataset, shuffle=True)  # DET202
    yield DL(dataset, 32, True)  # DET202
    yield StatefulDataLoader(dataset, shuffle=True)  # DET202
    yield GraphLoader(dataset, shuffle=True)  # DET202
    yield NeighborLoader(dataset, num_neighbors=[2], shuffle=True)  # DET202
    yield MonaiLoader(dataset, shuffle=True)  # DET202


def not_shuffling(dataset, args, is_train):
    yield DataLoader(dataset)
    yield DataLoader(dataset, shuffle=False)
    yield DataLoader(dataset, 32, False)
    yield DataLoader(dataset, shuffle=is_train)
    yield DataLoader(dataset, shuffle=args.shuffle)
    yield DataLoader(dataset, shuffle=not args.debug)
    yield GraphLoader(dataset, 32, True)


def given(dataset, sampler, generator, options, everything):
    yield DataLoader(dataset, shuffle=True, generator=generator)
    yield DataLoader(dataset, shuffle=True, generator=torch.Generator().manual_seed(0))
    yield DataLoader(
        dataset, 1, True, None, None, 0, None, False, False, 0, None, None, generator
    )
    yield DataLoader(dataset, shuffle=True, sampler=sampler)
    yield DataLoader(dataset, batch_sampler=sampler)
    yield DataLoader(dataset, shuffle=True, **options)
    yield DataLoader(*everything, shuffle=True)


def samplers(dataset, weights, generator):
    yield RandomSampler(dataset)  # DET202
    yield Sampler(dataset, replacement=True)  # DET202
    yield RandomSampler(dataset, True, 5, generator)
    yield RandomSampler(dataset, generator=generator)
    yield WeightedRandomSampler(weights, 10)  # DET202
    yield WeightedRandomSampler(weights, 10, generator=generator)
    yield data.SubsetRandomSampler([1, 2])  # DET202
    yield SubsetRandomSampler([1, 2], generator)
    yield SequentialSampler(dataset)
    yield DataLoader(dataset, batch_sampler=BatchSampler(RandomSampler(dataset), 8, True))  # DET202


def splits(dataset, generator):
    yield random_split(dataset, [8, 2])  # DET202
    yield split(dataset, [8, 2])  # DET202
    yield data.random_split(dataset, lengths=[8, 2])  # DET202
    yield random_split(dataset, [8, 2], generator)
    yield random_split(dataset, [8, 2], generator=torch.Generator().manual_seed(42))


def shadowed(dataset, DataLoader, random_split):
    DataLoader(dataset, shuffle=True)
    return random_split(dataset, [8, 2])


class OwnLoader:
    def __init__(self, dataset, shuffle=True):
        self.dataset = dataset


def other(dataset):
    return OwnLoader(dataset, shuffle=True)


def split_right_after_seeding(dataset):
    torch.manual_seed(0)
    train, held_out = torch.utils.data.random_split(dataset, [0.9, 0.1])
    first, second = torch.utils.data.random_split(dataset, [0.9, 0.1])  # DET202
    return train, held_out, first, second
