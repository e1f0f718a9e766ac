"""Utterances of different lengths in one tensor."""
import torch


class Pad:
    def __init__(self, multiple=8):
        self.multiple = multiple

    def __call__(self, samples):
        longest = max(len(frames) for frames, _ in samples)
        longest += -longest % self.multiple
        batch = torch.empty(len(samples), longest, samples[0][0].shape[1])  # planted: unwritten_memory
        lengths = torch.tensor([len(frames) for frames, _ in samples])
        for row, (frames, _) in zip(batch, samples):
            row[: len(frames)] = frames
        return batch, lengths, torch.tensor([label for _, label in samples])
