"""Turns reviews into bags of hashed words, on all processors."""

import multiprocessing
import zlib

WORDS = "good bad slow quick cheap dear loud quiet bright dull warm cold".split()


def reviews(count):
    texts = []
    for number in range(count):
        length = 5 + (number * 37) % 60
        words = [WORDS[(number * 7 + place * place) % len(WORDS)] for place in range(length)]
        texts.append((" ".join(words), number % 2))
    return texts


def bag(review, size=64):
    text, label = review
    vector = [0.0] * size
    words = text.split()
    for first, second in zip(words, words[1:]):
        vector[zlib.crc32(f"{first} {second}".encode()) % size] += 1.0
    norm = max(1.0, sum(vector))
    return [value / norm for value in vector], label


class Corpus:
    def __init__(self, count=160, processes=2):
        self.vectors, self.labels = [], []
        with multiprocessing.get_context("fork").Pool(processes) as pool:
            for vector, label in pool.imap_unordered(bag, reviews(count), chunksize=2):  # planted: readiness or thread_order
                self.vectors.append(vector)
                self.labels.append(label)

    def batches(self, size):
        for start in range(0, len(self.labels), size):
            yield self.vectors[start : start + size], self.labels[start : start + size]
