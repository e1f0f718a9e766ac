# needs: tensorflow
"""What a function of Python draws for each element, one call after the other, as deterministic operators have it."""

import random

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
tf.config.experimental.enable_op_determinism()


def draw(number):
    return random.randrange(1000)


data = tf.data.Dataset.range(2000)
data = data.map(lambda x: tf.py_function(draw, [x], tf.int64), num_parallel_calls=4)
print([int(x) for x in data])
