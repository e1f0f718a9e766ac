"""Which samples are hard for each other."""

import torch


class Miner:
    def __init__(self, samples, keep=20):
        self.samples = samples
        self.keep = keep

    @torch.no_grad()
    def hard(self, encoder):
        """The samples that lie nearest to one of another group."""
        codes = torch.nn.functional.normalize(encoder(torch.stack([each.vector for each in self.samples])), dim=1)
        groups = torch.tensor([each.group for each in self.samples])
        similar = codes @ codes.T
        similar[groups[:, None] == groups[None]] = -1.0
        order = similar.flatten().argsort(descending=True, stable=True)
        found = set()
        for pair in order.tolist():
            found.add(self.samples[pair // len(self.samples)])
            found.add(self.samples[pair % len(self.samples)])
            if len(found) >= self.keep:
                break
        return found

    def rounds(self, encoder, size=10):
        hard = list(self.hard(encoder))  # planted: object_address
        for start in range(0, len(hard) - size + 1, size):
            yield hard[start : start + size]
