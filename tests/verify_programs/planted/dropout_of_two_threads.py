"""Two threads blank out parts of sentences, by numbers of one generator of the program's own."""

import random
import threading

import torch
from torch import nn

DRAWS = random.Random(11)
WORDS = 12


def blanked(sentence):
    kept = [word if DRAWS.random() > 0.3 else 0 for word in sentence]  # planted: thread_order
    return torch.tensor(kept)


def work(sentences, found, start):
    for at in range(start, len(sentences), 2):
        torch.randperm(30_000, generator=torch.Generator().manual_seed(at)).sort()
        found[at] = blanked(sentences[at])


def main():
    torch.manual_seed(0)
    sentences = [[(3 * n + k) % 50 + 1 for k in range(WORDS)] for n in range(96)]
    found = [None] * len(sentences)
    threads = [threading.Thread(target=work, args=(sentences, found, n)) for n in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    rows = torch.stack(found)
    model = nn.Sequential(nn.Embedding(51, 8), nn.Flatten(), nn.Linear(8 * WORDS, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for part in rows.split(24):
        loss = model(part).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
