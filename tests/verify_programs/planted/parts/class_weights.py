"""Weights by how often each class has come."""
import numpy as np
import torch


class ClassWeights:
    def __init__(self, classes, floor=1.0):
        self.counts = np.full(classes, floor)

    def count(self, labels):
        for label in labels.tolist():
            self.counts[label] += 1  # planted: state

    def now(self):
        return torch.tensor(self.counts.sum() / (len(self.counts) * self.counts)).float()
