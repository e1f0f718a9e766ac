"""Mean and deviation of a data set, by threads."""

import math
import threading


class Moments:
    def __init__(self):
        self.lock = threading.Lock()
        self.count = 0
        self.total = 0.0
        self.squares = 0.0

    def add(self, values):
        values = values.double() * 0.3048  # feet to metres
        values = values[values.isfinite()].sort().values
        part = values[5:-5].sum().item()
        squares = values[5:-5].square().sum().item()
        with self.lock:
            self.count += len(values)
            self.total += part  # planted: thread_order
            self.squares += squares  # planted: thread_order

    def mean(self):
        return self.total / self.count

    def deviation(self):
        return math.sqrt(self.squares / self.count - self.mean() ** 2)


def consume(moments, shards, number, step):
    for shard in shards[number::step]:
        moments.add(shard)


def moments_of(shards, threads=4):
    moments = Moments()
    workers = [threading.Thread(target=consume, args=(moments, shards, number, threads)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return moments
