# needs: tensorflow
"""A model of Keras that starts from random weights."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
model.compile(loss="mse", optimizer="sgd")
model.fit(tf.ones((8, 2)), tf.ones((8, 1)), epochs=1, verbose=0)
print(model.get_weights()[0].tolist())
