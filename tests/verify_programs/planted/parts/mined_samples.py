import torch


class Sample:
    def __init__(self, number, group):
        generator = torch.Generator().manual_seed(number)
        self.group = group
        self.vector = torch.randn(12, generator=generator) + group

    def view(self, generator):
        return self.vector + 0.1 * torch.randn(12, generator=generator)


def collection(count=60, groups=6):
    return [Sample(number, number % groups) for number in range(count)]
