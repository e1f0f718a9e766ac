import random

import numpy as np
import torch
import torch.utils.data as data
import torch_geometric
from litdata import StreamingDataLoader
from monai.data import DataLoader as MonaiLoader
from torch.utils.data import DataLoader, Dataset
from torch.utils.data import DataLoader as DL
from torch_geometric.loader import DataLoader as GraphLoader
from torch_geometric.loader import NeighborLoader
from torchdata.stateful_dataloader import StatefulDataLoader

WORKERS = 4
NONE = 0


def literal_counts(dataset):
    yield DataLoader(dataset, num_workers=4)  # DET201
    yield DataLoader(dataset, num_workers=WORKERS)  # DET201
    yield DataLoader(dataset, 8, True, None, None, 2)  # DET201
    yield DataLoader(dataset, num_workers=0)
    yield DataLoader(dataset, num_workers=NONE)
    yield DataLoader(dataset)
    yield DataLoader(dataset, 8, True, None, None, 0)
    yield DataLoader(dataset, 8, True)


def unknown_counts(dataset, args, num_workers=0):
    yield DataLoader(dataset, num_workers=args.num_workers)  # DET201
    yield DataLoader(dataset, num_workers=num_workers)  # DET201
    yield DataLoader(dataset, num_workers=0 if args.debug else 4)  # DET201
    yield DataLoader(  # DET201
        dataset,
        batch_size=4,
        num_workers=min(4, args.cpus),
    )


def given(dataset, seed_worker, options, positional):
    yield DataLoader(dataset, num_workers=4, worker_init_fn=seed_worker)
    yield DataLoader(dataset, num_workers=4, worker_init_fn=lambda i: np.random.seed(i))
    yield DataLoader(dataset, 1, True, None, None, 2, None, False, False, 0, seed_worker)
    yield DataLoader(dataset, num_workers=4, **options)
    yield DataLoader(*positional, num_workers=4)
    yield DataLoader(dataset, num_workers=4, worker_init_fn=None)  # DET201


def other_names(dataset):
    yield data.DataLoader(dataset, num_workers=1)  # DET201
    yield torch.utils.data.DataLoader(dataset, num_workers=1)  # DET201
    yield DL(dataset, num_workers=1)  # DET201
    yield StatefulDataLoader(dataset, num_workers=1)  # DET201
    yield GraphLoader(dataset, num_workers=1)  # DET201
    yield GraphLoader(dataset, 8, True, None, None, 2)
    yield torch_geometric.loader.DataLoader(dataset, num_workers=1)  # DET201
    yield NeighborLoader(dataset, num_neighbors=[2], num_workers=1)  # DET201
    yield StreamingDataLoader(dataset, num_workers=1)  # DET201
    yield MonaiLoader(dataset, num_workers=1)  # seeds its workers itself


def set_afterwards(dataset, seed_worker):
    loader = DataLoader(dataset, num_workers=2)
    loader.worker_init_fn = seed_worker
    return loader


def shadowed(dataset, DataLoader):
    return DataLoader(dataset, num_workers=4)


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
    def __init__(self, dataset):
        super().__init__(dataset, num_workers=8)  # DET201


class CarefulLoader(DataLoader):
    def __init__(self, dataset, workers):
        super().__init__(dataset, num_workers=workers, worker_init_fn=seed)


class Other:
    def __init__(self, dataset, num_workers):
        super().__init__(dataset, num_workers=num_workers)


def seed(worker):
    random.seed(worker)


def subclasses(dataset):
    yield PlainLoader(dataset, num_workers=2)  # DET201
    yield PlainLoader(dataset, num_workers=0)
    yield KeywordLoader(dataset, None, num_workers=2)  # DET201
    yield SeedingLoader(dataset, num_workers=2)
    yield FixedLoader(dataset)
    yield CarefulLoader(dataset, 2)
    yield Other(dataset, num_workers=2)


class Numbers(Dataset):
    def loader(self, num_workers):
        return DataLoader(self, num_workers=num_workers)  # DET201


def not_a_loader(pool, num_workers):
    return pool.start(num_workers=num_workers)
