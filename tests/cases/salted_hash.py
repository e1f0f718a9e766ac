"""Cases of DET105."""

import builtins
import hashlib
import json
import os
import random
import zlib
from pathlib import Path
from typing import List

import numpy as np
import torch

BUCKETS = 16

# Cut down to a bucket, a shard or a split.


def bucket(name: str):
    return hash(name) % BUCKETS  # DET105


def bucket_of_bytes(row):
    return hash(row.encode()) & 0xFF  # DET105


def shard(path: Path, shards):
    return abs(hash(path)) % shards  # DET105


def shard_by_text(row, shards):
    return int(hash(str(row))) % shards  # DET105


def held_out(file_name):
    return hash(file_name) % 100 < 10  # DET105


def embed(words: List[str], table):
    return [table[hash(word) % len(table)] for word in words]  # DET105


def through_a_local(text: str):
    number = abs(hash(text))  # DET105
    return number % BUCKETS


def shifted(key: str):
    return hash(key) >> 8  # DET105


def fraction(key: str):
    return hash(key) / 2**63  # DET105


def added(key: str, offset):
    return (hash(key) + offset) % BUCKETS  # DET105


def by_qualified_name(key: str):
    return builtins.hash(key) % BUCKETS  # DET105


# Looking into tuples.


def task_bucket(task, data_name):
    return hash((task, data_name)) % BUCKETS  # DET105


def of_words(line):
    return hash(tuple(line.split())) % BUCKETS  # DET105


def of_settings(settings):
    return hash(json.dumps(settings, sort_keys=True)) % BUCKETS  # DET105


# Seeds of which DET103 cannot tell that they come from strings.


def seeded(line):
    random.seed(hash(tuple(line.split())))  # DET105
    generator = np.random.default_rng(seed=abs(hash(tuple(line.split()))))  # DET105
    seed = hash(tuple(line.split()))  # DET105
    return seed, generator


def seeded_with_torch(line, base):
    torch.manual_seed(base + hash(tuple(line.split())) % 1000)  # DET105


# A state that is put back: DET103 says nothing of it.


def drawn_and_put_back(name: str):
    state = random.getstate()
    try:
        random.seed(hash(name))  # DET105
        return random.random()
    finally:
        random.setstate(state)


# A bucket, besides a seed.


def seed_and_bucket(name: str):
    number = hash(name)  # DET105
    random.seed(number)
    return number % BUCKETS


# Seeds that DET103 tells of.


def told(name: str, base):
    random.seed(hash(name))
    generator = np.random.default_rng(seed=abs(hash(name)))
    seed = hash(name)
    torch.manual_seed(base + hash(name) % 1000)
    return seed, generator


def told_through_a_local(name: str):
    number = hash(name)
    random.seed(number)


def told_by_what_it_returns(name: str):
    def task_seed(name: str):
        return hash(name) % 2**32

    return task_seed(name), {"seed": hash(name) % 1000}


# Files.


def cache_file(folder, query: str):
    path = f"{folder}/{hash(query)}.pt"  # DET105
    return path


def joined(folder, query: str):
    return os.path.join(folder, str(hash(query)))  # DET105


def divided(folder: Path, query: str):
    return folder / f"{hash(query)}.json"  # DET105


def percent(query: str):
    filename = "%d.npy" % hash(query)  # DET105
    return filename


def opened(query: str):
    with open(str(hash(query)), "w") as file:  # DET105
        file.write(query)


def cache_path(query: str):
    return f"{hash(query)}.pt"  # DET105


# Identifiers that are kept.


def segment(make, name: str, text: str):
    return make(id=name + "_" + str(hash(text)), key=f"{hash(name)}")  # DET105


# Numbers, and what nothing is known of.


def numbers(index: int, rows, batch):
    first = hash(index) % BUCKETS
    second = hash((1, 2.5, index)) % BUCKETS
    third = hash(tuple(batch.tolist())) % BUCKETS
    fourth = hash(rows) % BUCKETS
    fifth = hash((index, rows)) % BUCKETS
    return first, second, third, fourth, fifth, hash(len(rows)) % 3, hash(True) % 2


# In one process.


class Token:
    def __init__(self, text: str):
        self.text = text

    def __hash__(self):
        return hash(self.text) % 2**31

    def __eq__(self, other):
        return hash(self.text) == hash(other.text)


class Key:
    __hash__ = lambda self: hash(str(self)) & 0xFFFF


def keys(names: List[str], seen, memo):
    for name in names:
        if hash(name) in seen:
            continue
        seen.add(hash(name))
        memo[hash(name)] = name
        known = hash(name)
        memo[known] = name
    return {hash(name): name for name in names}


def compared(left: str, right: str):
    return hash(left) == hash(right), hash(left) != hash(right)


def told(name: str, logger):
    logger.info(f"{hash(name) % 10}")
    raise ValueError(f"collision of {hash(name) % 10}")


# Other hashes.


def stable(name: str):
    return zlib.crc32(name.encode()) % BUCKETS, int(hashlib.md5(name.encode()).hexdigest(), 16) % 3


class Hasher:
    def hash(self, name):
        return 1

    def bucket(self, name):
        return self.hash(name) % BUCKETS


def shadowed(name: str, hash):
    return hash(name) % BUCKETS


# Kept


def hash_of(example):
    return {"hash": hash(example["text"].replace(" ", ""))}  # DET105


def with_hash(example):
    row = dict(example)
    row.update(hash_of(example))
    return row


def hashed(dataset):
    return dataset.map(with_hash)


def returned(name: str):
    return {"key": hash(name)}  # possible DET105


def stored(rows, name: str):
    rows["key"] = hash(name)  # possible DET105


def either(one: str, other: str, flag):
    number = hash(one)  # DET105
    if flag:
        number = hash(other)  # DET105
    return number % 10
