import torch
from parts.tag_corpus import tags_of, words_of


class Alphabet:
    """Numbers for symbols; 0 is what is not known."""

    def __init__(self, symbols):
        self.symbols = ["<unk>", *symbols]  # planted: string_hash
        self.index = {symbol: number for number, symbol in enumerate(self.symbols)}

    def __len__(self):
        return len(self.symbols)

    def encode(self, items):
        return torch.tensor([self.index.get(item, 0) for item in items])


def alphabets(train, dev):
    words = Alphabet(words_of(train))
    everything = tags_of(train).union(tags_of(dev))  # planted: string_hash
    tags = Alphabet(everything)
    return words, tags


def encode(corpus, words, tags):
    return [
        (words.encode(word.lower() for word, _ in sentence), tags.encode(tag for _, tag in sentence))
        for sentence in corpus
    ]
