"""Two ranks shuffle by a number that a property makes of the run's name, which rank 0 draws."""
# verify: --nproc-per-node 2

import torch
import torch.distributed as dist
from parts.run_name import named
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Loaders:
    def __init__(self, data, run):
        self.sampler = DistributedSampler(data, seed=run.seed)
        self.data = data

    def of(self, epoch):
        self.sampler.set_epoch(epoch)
        return DataLoader(self.data, batch_size=8, sampler=self.sampler)


def main():
    dist.init_process_group("gloo")
    run = named()
    torch.manual_seed(3)
    x = torch.randn(96, 5)
    loaders = Loaders(TensorDataset(x, x.square().sum(1, keepdim=True)), run)
    model = DistributedDataParallel(nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for inputs, targets in loaders.of(epoch):
            loss = nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
