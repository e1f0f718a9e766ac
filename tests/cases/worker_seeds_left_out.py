"""Cases of DET209."""

import torch
from torch.utils.data import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from torchdata.stateful_dataloader import StatefulDataLoader
from torchdata.stateful_dataloader.sampler import RandomSampler as StatefulRandomSampler
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

rows = list(range(10))


class Blocks(Sampler):
    def __iter__(self):
        yield from torch.randperm(10).tolist()


class Kept(Sampler):
    def __iter__(self):
        yield from torch.randperm(10).tolist()

    def state_dict(self):
        return {}


class Fixed(Sampler):
    def __iter__(self):
        yield from range(10)


class Unknown(SomeSampler):
    def __iter__(self):
        yield from torch.randperm(10).tolist()


def of_torch(weights, generator):
    StatefulDataLoader(rows, sampler=RandomSampler(rows))  # DET209
    StatefulDataLoader(rows, sampler=RandomSampler(rows, generator=generator))  # DET209
    StatefulDataLoader(rows, 2, False, WeightedRandomSampler(weights, 10))  # DET209
    sampler = SubsetRandomSampler(rows)
    return StatefulDataLoader(rows, sampler=sampler)  # DET209


def in_batches():
    return StatefulDataLoader(  # DET209
        rows, batch_sampler=BatchSampler(RandomSampler(rows), 4, drop_last=False)
    )


def of_the_file():
    StatefulDataLoader(rows, sampler=Blocks())  # DET209
    StatefulDataLoader(rows, sampler=Kept())
    StatefulDataLoader(rows, sampler=Fixed())
    StatefulDataLoader(rows, sampler=Unknown())


def saved(generator, given):
    StatefulDataLoader(rows, shuffle=True)
    StatefulDataLoader(rows, shuffle=True, generator=generator)
    StatefulDataLoader(rows, sampler=SequentialSampler(rows))
    StatefulDataLoader(rows, sampler=StatefulRandomSampler(rows))
    StatefulDataLoader(rows, sampler=StatefulDistributedSampler(rows))
    StatefulDataLoader(rows, sampler=given)
    StatefulDataLoader(rows)
