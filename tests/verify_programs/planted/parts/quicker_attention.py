"""Two ways to work out attention; which one is quicker depends on the shape and on the machine."""

import time

import torch

_chosen = {}


def by_matmul(q, k, v):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    return scores.softmax(-1) @ v


def by_einsum(q, k, v):
    scores = torch.einsum("bhqd,bhkd->bhqk", q * q.shape[-1] ** -0.5, k)
    return torch.einsum("bhqk,bhkd->bhqd", scores.softmax(-1), v)


def seconds(function, *arguments, repeat=3):
    best = float("inf")
    for _ in range(repeat):
        begun = time.perf_counter()
        function(*arguments)
        best = min(best, time.perf_counter() - begun)  # planted: clock
    return best


def attention(q, k, v):
    shape = tuple(q.shape)
    if shape not in _chosen:
        with torch.no_grad():
            _chosen[shape] = min((by_matmul, by_einsum), key=lambda each: seconds(each, q, k, v))  # planted: clock
    return _chosen[shape](q, k, v)
