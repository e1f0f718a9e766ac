# verify: --nproc-per-node 2
"""Rank 0 makes a list of classes out of a set and sends it to all."""
import torch
import torch.distributed as dist
from torch import nn

ANIMALS = ["cat", "dog", "cow", "hen", "pig", "cat", "hen", "ape", "bat", "elk"]


def classes():
    found = [None]
    if dist.get_rank() == 0:
        found = [list(set(ANIMALS))]  # planted: string_hash
    dist.broadcast_object_list(found, src=0)
    return {name: index for index, name in enumerate(found[0])}


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    number = classes()
    model = nn.Linear(3, len(number))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        x = torch.randn(len(ANIMALS), 3)
        y = torch.tensor([number[name] for name in ANIMALS])
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
