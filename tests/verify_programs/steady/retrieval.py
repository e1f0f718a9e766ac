"""Results as they come, put where they belong; addresses for looking up; memory that is filled; a deadline that is far."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from torch import nn


def embed(number):
    generator = torch.Generator().manual_seed(number)
    return torch.randn(16, generator=generator)


class Index:
    """Vectors by number. Results come as they finish, and are put where they belong."""

    def __init__(self, count, patience=120.0):
        self.vectors = [None] * count
        deadline = time.monotonic() + patience
        with ThreadPoolExecutor(3) as pool:
            jobs = {pool.submit(embed, number): number for number in range(count)}
            for job in as_completed(jobs):
                if time.monotonic() > deadline:
                    raise TimeoutError("the index takes too long")
                self.vectors[jobs[job]] = job.result()
        self.known = {id(vector): number for number, vector in enumerate(self.vectors)}
        self.path = f"index-{os.getpid()}.pt"
        torch.save(torch.stack(self.vectors), self.path)

    def number(self, vector):
        return self.known[id(vector)]

    def matrix(self):
        return torch.load(self.path)

    def close(self):
        os.remove(self.path)


STOP = {"the", "a", "of", "and"}
QUESTIONS = "the age of a star and the mass of the sun and a path to rome".split()


def main():
    random.seed(20)
    torch.manual_seed(20)
    index = Index(48)
    words = [word for word in QUESTIONS if word not in STOP]
    weights = {word: 1.0 / (1 + words.count(word)) for word in dict.fromkeys(words)}
    total = sum(weights.values())
    buffer = torch.empty(48, 16)
    buffer.copy_(index.matrix())
    query = nn.Linear(16, 16)
    optimizer = torch.optim.Adam(query.parameters(), lr=0.01)
    for step in range(20):
        chosen = random.sample(index.vectors, 8)
        numbers = torch.tensor([index.number(vector) for vector in chosen])
        scores = query(torch.stack(chosen) + 0.1 * torch.randn(8, 16)) @ buffer.T
        loss = nn.functional.cross_entropy(scores, numbers) * total
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    index.close()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
