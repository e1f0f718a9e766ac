"""Two processes train one model in shared memory, without waiting for each other."""

import torch
import torch.multiprocessing as mp
from parts.shared_worker import batches, work
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)


def finish(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.005)
    for x, y in batches(99, 5):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main(workers=2):
    torch.manual_seed(0)
    model = Net().share_memory()
    context = mp.get_context("fork")
    processes = [context.Process(target=work, args=(number, model)) for number in range(workers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print(f"loss {finish(model):.6f}")


if __name__ == "__main__":
    main()
