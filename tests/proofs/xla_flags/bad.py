# needs: cuda, jax
"""The gradient of a lookup in JAX, which adds up by scattering."""

import os

os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=false"

import jax
import jax.numpy as jnp


def loss(table, rows, weights):
    return (table[rows] * weights).sum()


if __name__ == "__main__":
    first, second, third = jax.random.split(jax.random.key(0), 3)
    table = jax.random.normal(first, (10, 16))
    rows = jax.random.randint(second, (1_000_000,), 0, 10)
    weights = jax.random.normal(third, (1_000_000, 16))
    print(jnp.asarray(jax.grad(loss)(table, rows, weights)).tolist())
