"""A bigram language model, with workers and a limit on the time."""
from collections import Counter
from pathlib import Path
import os
import tempfile
import time

from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data import Dataset
import torch


WORDS = "the a cat dog sees hears big small red blue runs sleeps near far house tree".split()


def write(folder, count):
    generator = torch.Generator().manual_seed(3)
    for number in range(count):
        picks = torch.randint(len(WORDS), (30,), generator=generator).tolist()
        handle, name = tempfile.mkstemp(prefix=f"doc{number:04d}-", suffix=".txt", dir=folder)
        with os.fdopen(handle, "w") as file:
            file.write(" ".join(WORDS[pick] for pick in picks))


class Documents(Dataset):
    def __init__(self, count=120):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, count)
            paths = [path for path in Path(folder).iterdir() if path.suffix == ".txt"]
            texts = {path.name[:7]: path.read_text().split() for path in paths}
        counts = Counter()
        for words in texts.values():
            counts.update(set(words))
        self.vocabulary = {word: index for index, (word, _) in enumerate(sorted(counts.items(), key=lambda item: (-item[1], item[0])))}
        self.documents = [torch.tensor([self.vocabulary[word] for word in texts[key]]) for key in sorted(texts)]

    def __len__(self):
        return len(self.documents)

    def __getitem__(self, index):
        words = self.documents[index]
        start = int(torch.randint(len(words) - 20, ()))
        return words[start : start + 20]


LIMIT = 3600.0


class Bigram(nn.Module):
    def __init__(self, words, width=16):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.scale = nn.Parameter(torch.empty(width))
        nn.init.ones_(self.scale)
        self.out = nn.Linear(width, words, bias=False)

    def forward(self, words):
        return self.out(self.embed(words) * self.scale)


def main():
    began = time.time()
    torch.manual_seed(13)
    documents = Documents()
    loader = DataLoader(documents, batch_size=12, shuffle=True, num_workers=2)
    model = Bigram(len(documents.vocabulary))
    optimizer = torch.optim.SGD(list({id(p): p for p in model.parameters()}.values()), lr=0.5)
    seen = set()
    for epoch in range(3):
        for words in loader:
            if time.time() - began > LIMIT:
                print("out of time")
                return
            seen.update(words.unique().tolist())
            loss = nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.8f}, {len(seen)} words seen, {time.time() - began:.1f} s")


if __name__ == "__main__":
    main()
