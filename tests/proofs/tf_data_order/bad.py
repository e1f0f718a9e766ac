# needs: tensorflow
"""Records prepared by several threads, as they get ready."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf


def prepare(index):
    size = 20 + 37 * index % 100
    matrix = tf.random.stateless_uniform((size, size), seed=tf.stack([index, 1]))
    return index, tf.reduce_sum(tf.linalg.svd(matrix, compute_uv=False))


prepared = tf.data.Dataset.range(64).map(prepare, num_parallel_calls=8, deterministic=False)
print([int(index) for index, _ in prepared])
