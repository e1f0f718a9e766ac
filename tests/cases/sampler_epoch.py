import logging

import torch
from engine import train_one_epoch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler
from torch.utils.data.distributed import DistributedSampler as DS
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler
from tqdm import tqdm

logger = logging.getLogger(__name__)


def plain(dataset, epochs):
    sampler = DistributedSampler(dataset)  # DET206
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(epochs):
        for batch in loader:
            step(batch)


def by_other_names(dataset, model):
    first = DataLoader(dataset, sampler=DS(dataset, shuffle=True))  # DET206
    second = DataLoader(dataset, 8, None, StatefulDistributedSampler(dataset))  # DET206
    third = torch.utils.data.distributed.DistributedSampler(dataset, 4, 0, True)  # DET206
    third_loader = torch.utils.data.DataLoader(dataset, sampler=third)
    for epoch_number in range(3):
        for step_number, batch in enumerate(tqdm(first)):
            model(batch)
        for batch in second:
            model(batch)
        for batch in zip(third_loader, first):
            model(batch)


def sometimes(dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None  # DET206
    loader = DataLoader(dataset, shuffle=sampler is None, sampler=sampler)
    logger.info("%d batches", len(loader))
    epoch = 0
    while epoch < 10:
        for batch in loader:
            step(batch)
        epoch += 1


def either(dataset, distributed):
    if distributed:
        sampler = DistributedSampler(dataset)  # DET206
    else:
        sampler = RandomSampler(dataset)
    batches = BatchSampler(sampler, 8, drop_last=True)
    loader = DataLoader(dataset, batch_sampler=batches)
    for epoch in range(10):
        for batch in loader:
            step(batch)


def run_epoch(model, loader):
    for batch in loader:
        model(batch)


def through_a_function(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))  # DET206
    for epoch in range(10):
        run_epoch(model, loader)


def build_loader(dataset):
    return DataLoader(dataset, sampler=DistributedSampler(dataset))  # DET206


def build_two(dataset, held_out):
    train = DataLoader(dataset, sampler=DistributedSampler(dataset))  # DET206
    other = DataLoader(held_out)
    return train, other


class Trainer:
    def __init__(self, model, train_data):
        self.model = model
        self.train_data = train_data

    def _run_batches(self, epoch):
        size = len(next(iter(self.train_data))[0])
        for source, targets in self.train_data:
            self.model(source, targets, size)

    def train(self, epochs):
        for epoch in range(epochs):
            self._run_batches(epoch)


def main(dataset, model):
    trainer = Trainer(model, build_loader(dataset))
    trainer.train(10)
    train, other = build_two(dataset, dataset)
    for epoch in range(3):
        run_epoch(model, train)
        run_epoch(model, other)


def built_in_each_epoch(dataset):
    for epoch in range(10):
        sampler = DistributedSampler(dataset, seed=0)  # DET206
        for batch in DataLoader(dataset, sampler=sampler):
            step(batch)


def step_by_step(dataset, state):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=True))  # DET206
    for state["epoch"] in range(state["epoch"], 10):
        batches = iter(loader)
        for number in range(len(loader)):
            step(next(batches))


# Silent


def only_looked_at(dataset):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(3):
        print(next(iter(loader)))


def seeded_in_each_epoch(dataset):
    for epoch in range(10):
        sampler = DistributedSampler(dataset, seed=epoch)
        for batch in DataLoader(dataset, sampler=sampler):
            step(batch)


def not_shuffling(dataset, flag, options):
    for sampler in [
        DistributedSampler(dataset, shuffle=False),
        DistributedSampler(dataset, 4, 0, False),
    ]:
        step(sampler)
    one = DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=False))
    two = DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=flag))
    three = DataLoader(dataset, sampler=DistributedSampler(dataset, **options))
    for epoch in range(3):
        for batch in zip(one, two, three):
            step(batch)


def evaluated(val_dataset, dataset):
    loader = DataLoader(val_dataset, sampler=DistributedSampler(val_dataset))
    test_loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(3):
        for batch in loader:
            step(batch)
        for batch in test_loader:
            step(batch)


def trained_elsewhere(dataset, model):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(3):
        train_one_epoch(model, loader, epoch)


def told_elsewhere(dataset, hooks):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    hooks.register(sampler)
    for epoch in range(3):
        for batch in loader:
            step(batch)


def kept_in_a_dict(dataset):
    loaders = {"train": DataLoader(dataset, sampler=DistributedSampler(dataset))}
    for epoch in range(3):
        for batch in loaders["train"]:
            step(batch)


def given_to_the_caller(dataset):
    sampler = DistributedSampler(dataset)
    return DataLoader(dataset, sampler=sampler)


def one_pass(dataset):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for batch in loader:
        step(batch)
    for epoch in range(1):
        for batch in loader:
            step(batch)


class WithCallbacks:
    def __init__(self, dataset, callbacks):
        self.batches = DataLoader(dataset, sampler=DistributedSampler(dataset))
        self.callbacks = callbacks

    def fit(self):
        for epoch in range(3):
            for callback in self.callbacks:
                callback.on_epoch(self, epoch)
            for batch in self.batches:
                step(batch)


class OfAnUnknownBase(train_one_epoch):
    def __init__(self, dataset):
        self.steps = DataLoader(dataset, sampler=DistributedSampler(dataset))

    def fit(self):
        for epoch in range(3):
            self.before_epoch(epoch)
            for batch in self.steps:
                step(batch)


def other_class(dataset, DistributedSampler):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(3):
        for batch in loader:
            step(batch)


# Called from the top of the file, where no loop is


def rounds_without_a_name(dataset, rounds):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for _ in rounds:
        for batch in loader:
            step(batch)


def start(dataset):
    rounds_without_a_name(dataset, trange(9))


if __name__ == "__main__":
    start(load())
