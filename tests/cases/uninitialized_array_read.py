"""DET403: the marked arrays are read before anything has written to them, or returned half full."""

import queue

import astropy.units as u
import cupy as cp
import jax.numpy as jnp
import numpy
import numpy as np
import torch
from numpy import empty, empty_like

# Read where it is made, or later by a name.


def straight(model, x, n):
    a = np.sum(np.empty(n))  # DET403
    b = np.empty((n, 3)) + 1  # DET403
    c = np.empty_like(x).mean(axis=0)  # DET403
    d = x * np.empty(shape=(2, n), dtype=np.float32)  # DET403
    e = cp.empty((n, n)).T @ x  # DET403
    f = np.linalg.norm(np.empty((n, 2)))  # DET403
    g = model(np.empty((1, 3, n, n), np.float32))  # DET403
    h = np.dot(np.empty((2, 3)), x)  # DET403
    i = np.ndarray((2, 3)).sum()  # DET403
    j = empty(n) > 0, empty_like(x).tolist()  # DET403 DET403
    k = x[numpy.empty(n, dtype=int)]  # DET403
    print(np.empty((2, 3)))  # DET403
    return a, b, c, d, e, f, g, h, i, j, k


def accumulated(batches, n):
    total = np.empty(n)  # DET403
    for batch in batches:
        total += batch
    return total


def counted(labels, n):
    counts = np.empty(n, dtype=int)  # DET403
    for label in labels:
        counts[label] += 1
    return counts


def recurrence(xs):
    out = np.empty(len(xs))  # DET403
    for i, x in enumerate(xs):
        out[i] = 0.9 * out[i - 1] + x
    return out


def reshaped(n):
    x = np.empty(n * 2)  # DET403
    x = x.reshape(n, 2).astype(np.float32)
    return np.exp(x)


def one_branch(x, flag):
    out = np.empty_like(x)  # DET403
    if flag:
        return out.max()
    out[:] = x
    return out


# Written first, or out of sight.


def written(x, n, path):
    a = np.empty(n)
    a[:] = 0
    b = np.empty(n)
    b.fill(1)
    c = np.empty_like(x)
    np.add(x, 1, out=c)
    d = np.empty_like(x)
    np.multiply(x, 2, d)
    e = np.empty(n)
    np.sqrt(x, e)
    f = np.empty(n)
    np.copyto(f, x)
    g = np.empty(n)
    x.mean(axis=0, out=g)
    h = np.empty((2, n))
    h[0], h[1] = x, x
    i = np.empty((2, n))
    i.T[:] = x
    j = np.empty(n)
    with open(path, "rb") as file:
        file.readinto(j)
    k = np.empty(n)
    rng = np.random.default_rng(0)
    rng.random(out=k)
    l = np.empty(n)
    torch.from_numpy(l).normal_()
    m = np.empty(n)
    m.flat[:] = x
    o = np.empty(n)
    np.dot(x, x, o)
    for row in range(n):
        j[row] = x[row]
    return a + b + c + d + e + f + g + h + i + j + k + l + m + o


def out_of_sight(x, n, kernel):
    out = np.empty(n)
    fill(out)
    kernel[1, 1](x, np.empty_like(x))
    kept = [np.empty(n) for _ in range(3)]
    return out + 1, kept, np.empty(n)


def properties(x, n):
    out = np.empty((n, 3))
    rows = np.zeros_like(out) + np.ones(out.shape) + len(out) + out.itemsize
    return rows, np.empty((n, 2)).nbytes, np.empty(n, like=cp.empty(())).dtype


def small(n):
    a = np.append(np.empty(0), 1) + np.empty((0, n)) + np.empty(()) + np.empty(1)
    b = np.vstack([np.empty((0, 3)), n]) + np.empty((n, 0)).sum() + np.empty([], dtype=float)
    return a, b


def objects(n, kind):
    a = np.empty(n, dtype=object)
    b = np.empty(n, object) == None  # noqa: E711
    c = np.empty(n, dtype="O").tolist(), np.empty((n, 2), dtype=np.object_).all()
    d = np.empty(n, dtype="T")[0], np.empty(n, dtype=np.dtypes.StringDType()).tolist()
    return a.tolist(), b, c, d


def over_a_buffer(memory, n):
    a = np.ndarray((n, 3), np.float32, buffer=memory.buf)
    b = np.ndarray((n,), np.uint8, memory.buf)
    return a.sum() + b.sum()


def not_a_number(n):
    a = np.nan * np.empty(n)
    b = np.empty((n, 2)) * np.nan
    c = np.empty(n)
    c *= float("nan")
    d = np.empty(n) + np.nan
    return a, b, c, d


def with_a_unit(n, length):
    out = np.empty(n) * u.m
    out[:] = length
    return out


def of_complex_numbers(n, values):
    out = np.empty(n) + 0j
    out[:] = values
    return out


def other_libraries(n, jobs):
    waiting = queue.Queue()
    while not waiting.empty():
        waiting.get()
    return jnp.empty(n) + 1, jobs.empty(), torch.cuda.empty_cache()


def warmup(model):
    return model(np.empty((2, 3)))


def shadowed(np):
    return np.empty(3) + 1


# Filled row by row.


def skipped(rows, size):
    out = np.empty((len(rows), size))  # DET403
    for i, row in enumerate(rows):
        if row is None:
            continue
        out[i] = encode(row)
    return out


def skipped_after_a_failure(rows):
    out = np.empty(len(rows))  # DET403
    for i, row in enumerate(rows):
        try:
            out[i] = float(row)
        except ValueError:
            continue
    return out


def diagonal(points):
    n = len(points)
    distances = np.empty((n, n))  # DET403
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            distances[i, j] = abs(points[i] - points[j])
    return distances


def stopped_early(step, most):
    losses = np.empty(most)  # DET403
    for i in range(most):
        losses[i] = step()
        if losses_are_flat():
            break
    return losses


def returned_with_another(rows, name):
    out = np.empty_like(rows)  # DET403
    for i in range(len(rows)):
        if not rows[i].any():
            continue
        out[i] = rows[i] / 2
    return torch.from_numpy(out), name


def averaged(rows):
    out = np.empty(len(rows))  # DET403
    for i, row in enumerate(rows):
        if row is None:
            continue
        out[i] = row.mean()
    return out.mean()


def filled_before_the_skip(rows):
    out = np.empty(len(rows))
    for i, row in enumerate(rows):
        if row is None:
            out[i] = np.nan
            continue
        out[i] = float(row)
    return out


def filled_first(rows):
    out = np.empty(len(rows))
    out.fill(np.nan)
    for i, row in enumerate(rows):
        if row is None:
            continue
        out[i] = float(row)
    return out


def skipped_after_the_write(rows):
    out = np.empty(len(rows))
    for i, row in enumerate(rows):
        out[i] = float(row)
        if row is None:
            continue
        log(row)
    return out


def counted_up(rows):
    out = np.empty(len(rows))
    k = 0
    for row in rows:
        if row is None:
            continue
        out[k] = float(row)
        k += 1
    return out


def sliced(rows):
    out = np.empty(len(rows))
    for i, row in enumerate(rows):
        if row is None:
            break
        out[i] = float(row)
    return out[:i]


def masked(rows):
    out = np.empty(len(rows))
    valid = np.zeros(len(rows), dtype=bool)
    for i, row in enumerate(rows):
        if row is None:
            continue
        out[i], valid[i] = float(row), True
    return out, valid


def selected(rows):
    out = np.empty(len(rows))
    failed = []
    for i, row in enumerate(rows):
        if row is None:
            failed.append(i)
            continue
        out[i] = float(row)
    return np.delete(out, failed)


def full(loader, n):
    out = np.empty(n)
    for i, batch in enumerate(loader):
        if i >= n:
            break
        out[i] = batch.mean()
    return out


def mirrored(points):
    n = len(points)
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            if j < i:
                continue
            out[i, j] = out[j, i] = points[i] * points[j]
    return out


def mirrored_later(points):
    n = len(points)
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            if j < i:
                continue
            out[i, j] = points[i] * points[j]
    below = np.tril_indices(n, -1)
    out[below] = out.T[below]
    return out


def shifted(lines, header):
    out = np.empty(len(lines) - header)
    for i, line in enumerate(lines):
        if i < header:
            continue
        out[i - header] = float(line)
    return out


def inner_loops(rows, n):
    out = np.empty(n)
    for i in range(n):
        for row in rows:
            if row is None:
                continue
            use(row)
        out[i] = i
    return out


def retried(n):
    out = np.empty(n)
    for i in range(n):
        while True:
            value = draw()
            if value > 0:
                break
        out[i] = value
    return out


def kept(rows, self):
    out = np.empty(len(rows))
    for i, row in enumerate(rows):
        if row is None:
            continue
        out[i] = row
    self.rows = out


def objects_by_row(rows):
    out = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        if row is None:
            continue
        out[i] = row
    return out


def rows_of_a_dict(elements, skips):
    found = {"boxes": np.empty((len(elements), 4)), "labels": np.empty(len(elements))}  # DET403 DET403
    for index, element in enumerate(elements):
        if element in skips:
            continue
        found["boxes"][index, :] = element.box
        found["labels"][index] = element.label
    return found


def all_rows_of_a_dict(elements):
    found = {"boxes": np.empty((len(elements), 4))}
    for index, element in enumerate(elements):
        found["boxes"][index, :] = element.box
    return found


# Written from some place on.


def rolled(x, window=10):
    out = np.empty(x.shape)  # DET403
    for i in range(len(x)):
        for j in range(x.shape[2]):
            out[i, window - 1:, j] = rolling(x[i, :, j], window)[window - 1:]
    return out


def differences(x):
    out = np.empty(len(x))  # DET403
    out[1:] = x[1:] - x[:-1]
    return out


def differences_and_the_first(x):
    out = np.empty(len(x))
    out[1:] = x[1:] - x[:-1]
    out[0] = 0
    return out


def differences_alone(x):
    out = np.empty(len(x))
    out[1:] = x[1:] - x[:-1]
    return out[1:]


def from_the_first(x):
    out = np.empty((len(x), 3))
    out[0:, :] = x
    return out


def from_where_each_begins(rows):
    out = np.empty(sum(map(len, rows)))
    first = 0
    for row in rows:
        out[first:] = row[0]
        first += len(row)
    return out
