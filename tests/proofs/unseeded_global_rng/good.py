"""The same with every generator seeded."""

import torch
import guard

guard.enable(seed=0)


def main():
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    print(layer.weight.tolist())


if __name__ == "__main__":
    main()
