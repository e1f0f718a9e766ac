"""Pages are fetched by eight threads and trained on as they come in."""

import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from torch import nn


def fetch(page):
    time.sleep(0.001)
    words = torch.Generator().manual_seed(page)
    sum(range(20_000))
    return torch.randint(0, 50, (9, 16), generator=words)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.recurrent = nn.GRU(16, 16)
        self.tags = nn.Linear(16, 50)

    def forward(self, words):
        return self.tags(self.recurrent(self.words(words))[0])


def main():
    torch.manual_seed(0)
    tagger = Tagger()
    optimizer = torch.optim.Adam(tagger.parameters(), lr=0.01)
    with ThreadPoolExecutor(8) as pool:
        fetched = [pool.submit(fetch, page) for page in range(16)]
        for page in as_completed(fetched):  # planted: batch_order
            words = page.result()
            scores = tagger(words[:-1])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), words[1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item())


main()
