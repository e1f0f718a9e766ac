"""Rows of noise, made by a few threads."""
import threading

import numpy as np

own = threading.local()


def draws():
    if not hasattr(own, "draws"):
        own.draws = np.random.RandomState(threading.get_ident() % 2**32)  # planted: process
    return own.draws


def fill(part):
    for row in part:
        row[:] = draws().normal(size=row.shape)


def filled(count, size, workers=2):
    rows = np.empty((count, size), dtype=np.float32)
    threads = [threading.Thread(target=fill, args=(part,)) for part in np.array_split(rows, workers)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return rows
