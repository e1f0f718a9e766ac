"""A tagger numbers its tags in the order in which a union of sets gives them."""

import random

import torch
from parts import tag_corpus as corpus
from parts.tag_alphabets import alphabets, encode
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words, tags, width=24):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, tags)

    def forward(self, sentence):
        hidden, _ = self.rnn(self.embed(sentence)[None])
        return self.head(hidden[0])


def main():
    random.seed(3)
    torch.manual_seed(3)
    train, dev = corpus.sentences(corpus.TRAIN), corpus.sentences(corpus.DEV)
    words, tags = alphabets(train, dev)
    examples = encode(train, words, tags)
    model = Tagger(len(words), len(tags))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=40)
    for epoch in range(10):
        random.shuffle(examples)
        for sentence, target in examples:
            loss = nn.functional.cross_entropy(model(sentence), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
